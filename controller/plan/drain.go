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

// drainTime is how long a pod is out of service before its containers are restarted, and false if
// the set does not drain pods for that.
func (f *facts) drainTime() (time.Duration, bool) {
	if f.inPlacePolicy() == "" {
		return 0, false
	}
	seconds := f.rollingUpdate().InPlace.DrainSeconds
	if seconds == nil {
		return 0, false
	}
	return v1.Seconds(*seconds), true
}

// withServiceGate is a new pod with the readiness gate by which it can be taken out of service, if
// its set requests that.
func (f *facts) withServiceGate(pod *corev1.Pod) *corev1.Pod {
	if _, drains := f.drainTime(); drains && f.world.SetsConditions && !isDrainable(pod) {
		pod.Spec.ReadinessGates = append(slices.Clip(pod.Spec.ReadinessGates), corev1.PodReadinessGate{ConditionType: v1.PodInService})
	}
	return pod
}

// isDrainable reports whether a pod can be taken out of service: its readiness depends on a
// condition that no one but this controller sets.
func isDrainable(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates,
		func(gate corev1.PodReadinessGate) bool { return gate.ConditionType == v1.PodInService })
}

// outSince is since when the controller has had a pod out of service, and false if it has not. A
// pod that has yet to get the condition has never been in service.
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

// needsDrain reports whether the pod of a member has to be taken out of service before it is
// changed. A broken pod serves no one.
func (f *facts) needsDrain(m member, change *identity.InPlaceChange) bool {
	_, drains := f.drainTime()
	return drains && change.Restarts() && !isBroken(m.pod)
}

// withDrain is a change of the pod of a member. The change is prevented if the pod would have to be
// taken out of service for it, but cannot be, and may be replaced instead.
func (f *facts) withDrain(m member, change *identity.InPlaceChange) *identity.InPlaceChange {
	if change.Prevented != "" || isDrainable(m.pod) || f.inPlacePolicy() != v1.IfPossibleInPlaceUpdatePolicyType || !f.world.SetsConditions ||
		!f.needsDrain(m, change) {
		return change
	}
	return &identity.InPlaceChange{
		Prevented: "pods that were created without readiness gate " + string(v1.PodInService) + " cannot be drained"}
}

// lacksRight reports whether a member has to be taken out of service and the controller has no
// right to do that. It records that.
func (f *facts) lacksRight(d *draft, m member) bool {
	if f.world.SetsConditions || !f.needsDrain(m, f.changeOf(d, m)) {
		return false
	}
	d.stall(v1.ReasonMissingRight,
		"pod %s cannot be drained before it is updated in place: the controller has no right to patch pods/status; %s; or remove spec.updateStrategy.rollingUpdate.inPlace.drainSeconds",
		m.pod.Name, inPlaceGrant().remedy())
	return true
}

// rightsAgain is after how long the controller checks whether a missing right has been granted.
const rightsAgain = time.Minute

// nextRight is the time until the controller checks whether a right has been granted whose absence
// blocks the set; zero if no right is missing.
func (d *draft) nextRight() time.Duration {
	if d.stalled == nil || d.stalled.word != v1.ReasonMissingRight {
		return 0
	}
	return rightsAgain
}

// nextDrain is the time until the first member has been out of service for long enough; zero if
// none is out of service.
func (f *facts) nextDrain() (next time.Duration) {
	if f.isFrozen() || f.world.Set.DeletionTimestamp != nil {
		return 0
	}
	for end := range f.drainEnds() {
		next = soonest(next, max(end.Sub(f.world.Now), 0))
	}
	return next
}

// drainEnds are the times at which desired members have been out of service for long enough.
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

// prepare makes the pod of a member ready for a change in place, and reports whether it is ready.
// If it is not, first lists the actions to do before the change. Conditions of the pod that the
// update waits for were set for another revision, so they are reset; and if containers are to be
// restarted, the pod is out of service for the time that the set specifies. Both are one write.
func (f *facts) prepare(d *draft, m member, change *identity.InPlaceChange) (first []action.Action, ready bool) {
	conditions, drains := f.verdictsUntil(m, f.world.Now.Add(-freshVerdict)), f.needsDrain(m, change) && isDrainable(m.pod)
	since, out := outSince(m.pod)
	asks := f.asksBudgets(m, change)
	if asks && f.waitForBudgets(d, m) {
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
	case drains && asks && !out: // the end is known when the cluster has allowed the drain to begin
		d.wait("pod %s is drained for %s, and then updated in place", m.pod.Name, left)
	case drains:
		d.wait("pod %s is drained until %s, and then updated in place", m.pod.Name, words.Timestamp(f.world.Now.Add(left)))
	}
	d.skip(m, v1.PlanWhyNotDraining, d.waitingFor())
	if out && left > 0 { // conditions that become outdated meanwhile are reset at the end
		d.requeueAfter(left)
		return nil, false
	}
	return []action.Action{
		action.SetPodConditions{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Conditions: conditions, AsBudgetsAllow: asks}}, false
}

// condition is a pod condition that is set now.
func (f *facts) condition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) corev1.PodCondition {
	return corev1.PodCondition{
		Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(f.world.Now.Truncate(time.Second))}
}

// keepOut records that the pod of a member is being prepared for its update, and stays out of
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

// isOutOfService reports whether a pod has to be put into service if nothing else is done with it.
func isOutOfService(pod *corev1.Pod) bool {
	return isDrainable(pod) && conditionStatus(pod, string(v1.PodInService)) != corev1.ConditionTrue
}

// putIntoService puts into service new pods, and pods whose containers are no longer about to be
// restarted: the update was reverted or is paused, or others go first. It does not wait for healthy
// members: this member serves its clients if nothing else prevents that.
func putIntoService(f *facts, d *draft) verdict {
	for m := range f.all() {
		if m.pod == nil || isTerminating(m.pod) || isFinished(m.pod) || !isOutOfService(m.pod) || isRestarting(m.pod) || d.out[m.pod.UID] ||
			d.changesPod(m) {
			continue
		}
		d.add(f.serve(m))
	}
	return proceed
}

// drainedUntil is when the last of the members that are about to be restarted has been out of
// service for long enough. Until then no progress is expected.
func (f *facts) drainedUntil() (until time.Time) {
	for end := range f.drainEnds() {
		until = latest(until, end)
	}
	return until
}
