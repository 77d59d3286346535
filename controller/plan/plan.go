// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
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

// World is everything that a decision may use. The planner never changes it.
type World struct {
	// Set is the set, with all defaults filled.
	Set *v1.StatefulSet
	// Revisions are the ControllerRevisions of the namespace that the set controls, that have no
	// controller and match its selector, or that have a name which a revision of the set could
	// get.
	Revisions []*appsv1.ControllerRevision
	// Pods are the pods of the namespace that the set controls, or whose names are those of its
	// members, regardless of their controller.
	Pods []*corev1.Pod
	// Claims are the claims of the namespace that have the name of a claim of any member, desired
	// or not, and the claims of removed claim templates that the set or one of its pods controls.
	Claims []*corev1.PersistentVolumeClaim
	// ClaimsWithSecrets are the claims of templates that the set may have had, if they record
	// generated Secrets. Their data may depend on these Secrets.
	ClaimsWithSecrets []*corev1.PersistentVolumeClaim
	// Rivals names, by claim template, an older set whose members' claims have the
	// same names as those created from that template.
	Rivals map[string]string
	// Objects are the existing objects that the set's templates describe, and Kinds says for which
	// kinds all of them are known. Both are empty for a set without such templates.
	Objects map[identity.ObjectKey]*Object
	Kinds   map[schema.GroupKind]Kind
	// Resizes is true if the host cluster can change the resources of existing pods. It need not be
	// known for a set that updates nothing in place.
	Resizes bool
	// SetsConditions is true if the controller may set conditions of pods. It need not be known for
	// a set that updates nothing in place, or that drains no pods and waits for no conditions.
	SetsConditions bool
	// Cache is that of the last plan for the set, empty if there is none.
	Cache Cache
	// Evaluation says until when the expressions of the set may be evaluated, nil for no limit.
	Evaluation *render.Evaluation
	// Now is the time at which the world was read.
	Now time.Time
}

// Plan is what to do in a world.
type Plan struct {
	// First is what everything else depends on. Unless all of it succeeds, the chains do not
	// start.
	First action.Chain
	// Chains are independent of each other: if the cluster refuses an action of one chain, the
	// others continue.
	Chains []action.Chain
	// Finally is carried out after the chains, even if the cluster has refused some of their
	// actions: otherwise the revision history of a blocked set would grow with each new template.
	// It is left out only if an action has found that the world has changed since it was read.
	Finally []action.Chain
	// Warnings are what users should know although the controller does nothing about it.
	Warnings []Warning
	// Waiting says what the set waits for, empty if it waits for nothing.
	Waiting string
	// Status is the status of the set in this world, and Conditions are its conditions before they
	// are written into the status. If actions fail, WithFailures changes both.
	Status     v1.StatefulSetStatus
	Conditions conditions.Conditions
	// Unavailable is the number of desired members that are not available, and MaxUnavailable how
	// many may be unavailable because of an update.
	Unavailable, MaxUnavailable int
	// RequeueAfter is the time after which an unchanged world needs another sync, zero if it
	// never does.
	RequeueAfter time.Duration
	// PutOff is true if an action was put off until later, so that time alone makes progress.
	PutOff bool
	// Stopped is true if the time for evaluations ended before the plan was complete. The set is
	// planned again after a back-off.
	Stopped bool
	// Cache is for the next world of the set.
	Cache Cache
	// Reads are the objects that must be read, because pods wait for their outputs, or because they
	// are not managed by the set. After reading them, the caller computes another plan.
	Reads []ObjectRead
	// Lost are Secrets that no longer exist and must not be generated again. A user who recreates
	// one may omit the labels by which the cache finds it, so the caller must read it by name.
	Lost []identity.ObjectKey
}

// ObjectRead is an object to read, with the template that defines its outputs, and with the ordinal
// of the member for which the object is compared with the template.
type ObjectRead struct {
	Key      identity.ObjectKey
	Template string
	Ordinal  int
}

// All are all actions of the plan.
func (p Plan) All() []action.Action {
	return slices.Concat(slices.Concat([]action.Chain{p.First}, p.Chains, p.Finally)...)
}

// Steps are all actions of the plan, grouped by the time at which each may start if the cluster
// refuses nothing.
func (p Plan) Steps() []action.Step {
	var steps []action.Step
	for _, act := range p.First {
		steps = append(steps, action.Step{act})
	}
	return append(append(steps, side(p.Chains)...), side(p.Finally)...)
}

// side are the steps of chains that are carried out in parallel.
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

// Warning is a reason for programs and a message for people.
type Warning struct {
	Reason  string
	Message string
}

// Compute decides what to do about a world.
func Compute(world World) Plan {
	if identity.IsEvaluationStopped(world.Set) {
		return evaluationStoppedPlan(world)
	}
	reads := &reader{known: world.Cache}
	f := survey(world, reads)
	d := newDraft(f, reads)
	d.decide(f)
	stopped := f.evaluationEnded(d)
	status, says, requeueAfter := report(f, d)
	return Plan{
		First: d.first, Chains: d.chains, Finally: d.finally,
		Warnings: d.warnings, Waiting: cmp.Or(d.waitingFor(), f.growing(), f.pausedText()),
		Status: status, Conditions: says,
		Unavailable: f.roster.Len() - f.available, MaxUnavailable: f.maxUnavailable(),
		RequeueAfter: requeueAfter, PutOff: d.retry > 0, Stopped: stopped,
		Cache: reads.read.with(world.Set.UID, f.endings), Reads: reads.objects, Lost: f.supporting.lostSecrets(),
	}
}
