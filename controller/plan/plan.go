// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// World is everything that a decision may see. Nothing in it is changed.
type World struct {
	// Set is the set, with all defaults filled.
	Set *v1.StatefulSet
	// Revisions are the ControllerRevisions of the namespace that the set
	// controls, that nobody controls and its selector matches, or that have a
	// name which a revision of the set could get.
	Revisions []*appsv1.ControllerRevision
	// Pods are the pods of the namespace that the set controls or whose names say
	// that they are its members, whoever controls them.
	Pods []*corev1.Pod
	// Claims are the claims of the namespace that have the name of a claim of any
	// member, wanted or not.
	Claims []*corev1.PersistentVolumeClaim
	// Rivals names, by claim template, an older set whose members' claims have the
	// same names as those made from that template.
	Rivals map[string]string
	// Records are those of the last plan for the set, if there are any.
	Records Records
	// Now is the time at which the world was looked at.
	Now time.Time
}

// Plan is what to do about a world.
type Plan struct {
	// Steps are carried out one after the other; a step begins when every action
	// of the one before has succeeded. The actions of one step are independent of
	// each other: one that fails stops none of the others.
	Steps []Step
	// History is carried out after the steps, whatever of them the host has refused, or
	// else the record of a set that is stuck would grow with each new template. It is
	// left out only if a step has found the world otherwise than it was seen.
	History Step
	// Warnings are what people should know about although nothing is done about it.
	Warnings []Warning
	// Waiting says what keeps the set from more, empty if nothing does.
	Waiting string
	// Status is the status of the set in this world. If actions fail, WithFailures
	// says what it becomes.
	Status v1.StatefulSetStatus
	// Unavailable is how many wanted members serve nobody, MaxUnavailable how many may
	// because of an update.
	Unavailable, MaxUnavailable int
	// RequeueAfter is how long it takes until the same world needs another look
	// although nothing in it has changed; zero if that never happens.
	RequeueAfter time.Duration
	// Records are for the next world of the set.
	Records Records
}

// Step is a list of actions that may be carried out at the same time.
type Step []Action

// All are the steps, with the history as the last.
func (p Plan) All() []Step {
	if len(p.History) == 0 {
		return p.Steps
	}
	return append(slices.Clip(p.Steps), p.History)
}

// Warning is a word for programs and a sentence for people.
type Warning struct {
	Reason  string
	Message string
}
