// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// drainTime is how long a pod is out of service before its containers are restarted, and false
// if the set takes none out of service for that.
func (f *facts) drainTime() (time.Duration, bool) {
	if f.inPlacePolicy() == "" {
		return 0, false
	}
	seconds := f.rolling().InPlace.DrainSeconds
	if seconds == nil {
		return 0, false
	}
	return v1.Seconds(*seconds), true
}

// withServiceGate is a pod that is about to be created, with the readiness gate by which it can
// be taken out of service, if its set asks for that.
func (f *facts) withServiceGate(pod *corev1.Pod) *corev1.Pod {
	if _, drains := f.drainTime(); drains && f.world.SetsConditions && !isDrainable(pod) {
		pod.Spec.ReadinessGates = append(slices.Clip(pod.Spec.ReadinessGates), corev1.PodReadinessGate{ConditionType: v1.PodInService})
	}
	return pod
}

// isDrainable reports whether a pod can be taken out of service: its readiness depends on a
// condition that nobody else sets.
func isDrainable(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates,
		func(gate corev1.PodReadinessGate) bool { return gate.ConditionType == v1.PodInService })
}

// outSince is since when a pod is out of service by our hand, and false if it is not. One that has
// yet to get the condition has never been in service.
func outSince(pod *corev1.Pod) (time.Time, bool) {
	if !isDrainable(pod) {
		return time.Time{}, false
	}
	c := conditionOf(pod, v1.PodInService)
	if c == nil || c.Status == corev1.ConditionTrue {
		return time.Time{}, false
	}
	return c.LastTransitionTime.Time, true
}

// isDraining reports whether a pod is out of service, and its containers have yet to be
// restarted. A resize alone may still be under way: it takes no pod out of service.
func isDraining(pod *corev1.Pod) bool {
	_, out := outSince(pod)
	return out && (!isRestarting(pod) || len(noteOf(pod).Containers) == 0)
}

// needsDrain reports whether the pod of a member is to be taken out of service before it is
// changed. One that is broken serves nobody.
func (f *facts) needsDrain(m member, change *identity.InPlaceChange) bool {
	_, drains := f.drainTime()
	return drains && change.Restarts() && !isBroken(m.pod)
}

// withDrain is a change of the pod of a member, prevented if the pod would have to be taken out of
// service for it, cannot be, and may be replaced.
func (f *facts) withDrain(m member, change *identity.InPlaceChange) *identity.InPlaceChange {
	if change.Prevented != "" || isDrainable(m.pod) || f.inPlacePolicy() != v1.IfPossibleInPlaceUpdatePolicyType || !f.world.SetsConditions ||
		!f.needsDrain(m, change) {
		return change
	}
	return &identity.InPlaceChange{
		Prevented: "pods that have been created without readiness gate " + string(v1.PodInService) + " cannot be drained"}
}

// lacksRight reports whether a member has to be taken out of service, and the controller has no
// right to do that. It says so.
func (f *facts) lacksRight(d *draft, m member) bool {
	if f.world.SetsConditions || !f.needsDrain(m, f.changeOf(d, m)) {
		return false
	}
	d.blocked(v1.ReasonMissingRight,
		"pod %s cannot be drained before it is updated in place: the controller has no right to patch pods/status; %s; or remove spec.updateStrategy.rollingUpdate.inPlace.drainSeconds",
		m.pod.Name, inPlaceGrant().remedy())
	return true
}

// rightsAgain is after how long it is seen whether a right that is missing has been given.
const rightsAgain = time.Minute

// nextRight is how long it takes until it is seen whether a right has been given that keeps the
// set; zero if none does.
func (d *draft) nextRight() time.Duration {
	if d.stalled == nil || d.stalled.word != v1.ReasonMissingRight {
		return 0
	}
	return rightsAgain
}

// nextDrain is how long it takes until the first member has been out of service for long enough; zero
// if none is.
func (f *facts) nextDrain() (next time.Duration) {
	if f.frozen() || f.world.Set.DeletionTimestamp != nil {
		return 0
	}
	for end := range f.drainEnds() {
		next = soonest(next, max(end.Sub(f.world.Now), 0))
	}
	return next
}

// drainEnds are the times at which wanted members have been out of service for long enough.
func (f *facts) drainEnds() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		drain, drains := f.drainTime()
		if !drains {
			return
		}
		for _, m := range f.members {
			if m.pod == nil || !isDraining(m.pod) || isTerminating(m.pod) {
				continue
			}
			if since, _ := outSince(m.pod); !yield(since.Add(drain)) {
				return
			}
		}
	}
}

// prepare makes the pod of a member ready for a change in place, and reports whether it is; if not,
// with what is to be done first. What was said of the pod in conditions that the update waits for
// was said of another revision, so it is forgotten; and where containers are to be restarted, the
// pod is out of service for as long as the set says. Both is one write.
func (f *facts) prepare(d *draft, m member, change *identity.InPlaceChange) (first []action.Action, ready bool) {
	conditions, drains := f.verdictsUntil(m, f.world.Now.Add(-freshVerdict)), f.needsDrain(m, change) && isDrainable(m.pod)
	since, out := outSince(m.pod)
	asks := f.asksBudgets(m, change)
	if asks && f.isAheadOfBudgets(d, m) {
		return nil, false
	}
	if drains && !out {
		since = f.world.Now.Truncate(time.Second)
		conditions = append(conditions, f.condition(v1.PodInService, corev1.ConditionFalse, v1.ReasonDraining))
	}
	left := time.Duration(0)
	if drains {
		drain, _ := f.drainTime()
		left = since.Add(drain).Sub(f.world.Now)
	}
	if len(conditions) == 0 && left <= 0 {
		return nil, true
	}
	d.keepOut(m)
	switch {
	case drains && asks && !out: // until when is known when the host has let it begin
		d.wait("pod %s is drained for %s, and then updated in place", m.pod.Name, left)
	case drains:
		d.wait("pod %s is drained until %s, and then updated in place", m.pod.Name, words.Clock(f.world.Now.Add(left)))
	}
	if out && left > 0 { // what grows old meanwhile is forgotten at the end
		d.again(left)
		return nil, false
	}
	return []action.Action{
		action.SetPodConditions{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Conditions: conditions, AsBudgetsAllow: asks}}, false
}

// condition is one of a pod that is set now.
func (f *facts) condition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) corev1.PodCondition {
	return corev1.PodCondition{
		Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(f.world.Now.Truncate(time.Second))}
}

// keepOut notes that the pod of a member is being made ready for its update, and stays out of
// service if it is.
func (d *draft) keepOut(m member) {
	if d.out == nil {
		d.out = map[types.UID]bool{}
	}
	d.out[m.pod.UID] = true
}

// serve puts the pod of a member into service.
func (f *facts) serve(m member) action.Action {
	return action.SetPodConditions{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Conditions: []corev1.PodCondition{f.inService()}}
}

func (f *facts) inService() corev1.PodCondition {
	return f.condition(v1.PodInService, corev1.ConditionTrue, v1.ReasonInService)
}

// isOutOfService reports whether a pod is to be put into service as far as nothing is done with it.
func isOutOfService(pod *corev1.Pod) bool {
	return isDrainable(pod) && says(pod, string(v1.PodInService)) != corev1.ConditionTrue
}

// putIntoService puts new pods into service, and those whose containers are not about to be
// restarted any more: the update was taken back, or rests, or others go first. It does not wait
// for anybody's health: the member serves somebody, if nothing else keeps it from that.
func putIntoService(f *facts, d *draft) verdict {
	for m := range f.all() {
		if m.pod == nil || isTerminating(m.pod) || isFinished(m.pod) || !isOutOfService(m.pod) || isRestarting(m.pod) || d.out[m.pod.UID] ||
			d.changesPod(m) {
			continue
		}
		d.each(f.serve(m))
	}
	return proceed
}

// drainedUntil is until when the last of the members is out of service that are about to be
// restarted: until then nothing moves, and nothing need.
func (f *facts) drainedUntil() (until time.Time) {
	for end := range f.drainEnds() {
		until = latest(until, end)
	}
	return until
}
