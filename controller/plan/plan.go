// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
	"statefulset.dev/identity/conditions"
	"statefulset.dev/identity/render"
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
	// member, wanted or not, and those of removed claim templates that the set or a pod of it controls.
	Claims []*corev1.PersistentVolumeClaim
	// Knowing are claims of templates that the set may have had and that record which generated Secrets
	// they were given. Their data was written with these.
	Knowing []*corev1.PersistentVolumeClaim
	// Rivals names, by claim template, an older set whose members' claims have the
	// same names as those made from that template.
	Rivals map[string]string
	// Objects are what the host has of the objects that the set's templates describe, and Kinds says
	// of which kinds it has all. It is empty of a set that has no such templates.
	Objects map[identity.ObjectKey]*Object
	Kinds   map[schema.GroupKind]Kind
	// Resizes is true if the host changes the resources of pods that are there. It need not be
	// known of a set that updates nothing in place.
	Resizes bool
	// SetsConditions is true if the controller may set conditions of pods. It need not be known of
	// a set that updates nothing in place, or drains nobody and waits for no conditions.
	SetsConditions bool
	// Records are those of the last plan for the set, if there are any.
	Records Records
	// Evaluation says until when the expressions of the set may be evaluated. Nil stands for no end.
	Evaluation *render.Evaluation
	// Now is the time at which the world was looked at.
	Now time.Time
}

// Plan is what to do about a world.
type Plan struct {
	// First is what everything else rests on. If it does not succeed as a whole, the
	// chains are not begun.
	First action.Chain
	// Chains are independent of each other: what the host refuses of one holds up none of
	// the others.
	Chains []action.Chain
	// Aside is carried out after that, whatever of it the host has refused, or else the
	// record of a set that is stuck would grow with each new template. It is left out only
	// if an action has found the world otherwise than it was seen.
	Aside []action.Chain
	// Warnings are what people should know about although nothing is done about it.
	Warnings []Warning
	// Waiting says what keeps the set from more, empty if nothing does.
	Waiting string
	// Status is the status of the set in this world, and Conditions are what its conditions say. If actions
	// fail, WithFailures says what becomes of both.
	Status     v1.StatefulSetStatus
	Conditions conditions.Conditions
	// Unavailable is how many wanted members serve nobody, MaxUnavailable how many may
	// because of an update.
	Unavailable, MaxUnavailable int
	// RequeueAfter is how long it takes until the same world needs another look
	// although nothing in it has changed; zero if that never happens.
	RequeueAfter time.Duration
	// PutOff is true if something is to be done that was put off: time leads on.
	PutOff bool
	// Stopped is true if the time for evaluations was over before the plan was made. What it lacks is
	// planned when it is made again, after a back-off.
	Stopped bool
	// Records are for the next world of the set.
	Records Records
	// Reads are the objects that have to be read, because pods wait for what they give, or because they
	// are somebody else's. Who has read them asks for another plan.
	Reads []ObjectRead
	// Lost are Secrets that exist no more and must not be drawn again. Who has created one by hand may
	// not have given it the labels by which it is seen, so that it has to be looked for.
	Lost []identity.ObjectKey
}

// ObjectRead is an object of which it is asked what it gives, and the template whose outputs these are,
// and how it differs from what that describes for the member of the ordinal.
type ObjectRead struct {
	Key      identity.ObjectKey
	Template string
	Ordinal  int
}

// All are all actions of the plan.
func (p Plan) All() []action.Action {
	return slices.Concat(slices.Concat([]action.Chain{p.First}, p.Chains, p.Aside)...)
}

// Steps are all actions of the plan by the moment at which each may be begun if the host
// refuses nothing.
func (p Plan) Steps() []action.Step {
	var steps []action.Step
	for _, act := range p.First {
		steps = append(steps, action.Step{act})
	}
	return append(append(steps, side(p.Chains)...), side(p.Aside)...)
}

// side are the steps of chains that are carried out side by side.
func side(chains []action.Chain) []action.Step {
	var steps []action.Step
	for _, chain := range chains {
		for i, act := range chain {
			if i == len(steps) {
				steps = append(steps, nil)
			}
			steps[i] = append(steps[i], act)
		}
	}
	return steps
}

// Warning is a word for programs and a sentence for people.
type Warning struct {
	Reason  string
	Message string
}
