// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

const inServiceType = "apps.statefulset.dev/in-service"

// drain is for how long a pod is to be out of service before its containers are restarted, and
// false if the set does not ask for that.
func (f evidence) drain() (time.Duration, bool) {
	if f.inPlacePolicy() == "" || f.rolling().InPlace.DrainSeconds == nil {
		return 0, false
	}
	return time.Duration(*f.rolling().InPlace.DrainSeconds) * time.Second, true
}

func hasServiceGate(pod *corev1.Pod) bool {
	return slices.Contains(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: inServiceType})
}

// drainedSince is since when a pod whose containers are not being restarted is out of service by our
// hand.
func drainedSince(pod *corev1.Pod) (time.Time, bool) {
	if restarted, _ := noted(pod); len(restarted) > 0 {
		return time.Time{}, false
	}
	return outOfServiceSince(pod)
}

// outOfServiceSince is since when a pod that can be drained is said not to be in service.
func outOfServiceSince(pod *corev1.Pod) (time.Time, bool) {
	if !hasServiceGate(pod) {
		return time.Time{}, false
	}
	for _, c := range pod.Status.Conditions {
		if string(c.Type) == inServiceType && c.Status != corev1.ConditionTrue {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// drainEnd is until when a pod is drained.
func (f evidence) drainEnd(pod *corev1.Pod) (time.Time, bool) {
	drain, asks := f.drain()
	if pod == nil || !asks || pod.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	since, is := drainedSince(pod)
	return since.Add(drain), is
}

// takesOut reports whether a pod is taken out of service.
func takesOut(a action.SetPodConditions) bool {
	return slices.ContainsFunc(a.Conditions, func(c corev1.PodCondition) bool {
		return string(c.Type) == inServiceType && c.Status != corev1.ConditionTrue
	})
}

// restartsAny reports whether a container is restarted: for an image, or for memory if it says that it
// has to be.
func (j *judged) restartsAny(a action.UpdateInPlace, pod *corev1.Pod) bool {
	from, to := j.templateOf(pod.Labels[revisionLabel]), j.templateOf(a.Revision)
	if len(a.Images)+len(a.Sidecars) > 0 || len(a.Resized) == 0 || from == nil || to == nil {
		return len(a.Images)+len(a.Sidecars) > 0
	}
	container := &from.Spec.Containers[0]
	return slices.Contains(container.ResizePolicy,
		corev1.ContainerResizePolicy{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}) &&
		!container.Resources.Limits.Memory().Equal(*to.Spec.Containers[0].Resources.Limits.Memory())
}

// drains: pods are made so that they can be drained if the set asks for that, and the controller
// can; only members that serve, and that the update may reach, are taken out of service; no
// container of one that can be drained is restarted before that has lasted as long as the set says;
// and it is in service again when that is over.
func (j *judged) drains() {
	drain, asks := j.drain()
	for _, act := range planned[action.CreateMember](j) {
		if want := asks && j.SetsConditions; hasServiceGate(act.Pod) != want {
			j.broke("service gate", "%s has the readiness gates %v, want that of drains: %t", act, act.Pod.Spec.ReadinessGates, want)
		}
	}
	for _, act := range planned[action.SetPodConditions](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil || !takesOut(act) {
			continue
		}
		_, broken := unreadySince(pod)
		if may := j.mayTake(pod, act.Ordinal) || j.mayUnblock(pod, act.Ordinal); !asks || broken || !may || j.rests() || !j.mine(pod) ||
			!hasServiceGate(pod) {
			j.broke("drained for nothing", "%s, which is at %s with the conditions %v", act, revisionAt(pod), pod.Status.Conditions)
		}
	}
	for _, act := range planned[action.UpdateInPlace](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil || !asks || !j.restartsAny(act, pod) {
			continue
		}
		since, out := outSince(pod)
		_, broken := unreadySince(pod)
		switch {
		case broken:
		case !hasServiceGate(pod):
			if j.inPlacePolicy() != v1.OnlyInPlaceUpdatePolicyType || !j.SetsConditions {
				j.broke("drain", "%s, which cannot be drained", act)
			}
		case !out || j.Now.Sub(since) < drain:
			j.broke("drain", "%s, which has the conditions %v and is to be out of service for %s", act, pod.Status.Conditions, drain)
		}
	}
	for _, act := range planned[action.EndInPlace](j) {
		if pod := j.pods[act.Pod.Name]; pod != nil && hasServiceGate(pod) && said(pod, inServiceType) != corev1.ConditionTrue {
			j.broke("end of a drain", "%s, which has the conditions %v", act, pod.Status.Conditions)
		}
	}
}

// leavesNobodyDrained: who is out of service is about to be restarted, and the time until then is
// running, or the plan does something with the pod.
func (j *judged) leavesNobodyDrained() {
	drain, asks := j.drain()
	if len(j.plan.First)+len(planned[action.AdoptRevision](j))+len(planned[action.AdoptPod](j))+len(planned[action.ReleasePod](j)) > 0 {
		return // whose pods and revisions they are is clear in the next look
	}
	changed := map[string]bool{}
	for _, act := range j.actions() {
		if kind, at := targetOf(act); kind == "pod" {
			changed[at.Name] = true
		}
	}
	for _, pod := range j.Pods {
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if _, restarts := noted(pod); restarts || changed[pod.Name] || !hasServiceGate(pod) || said(pod, inServiceType) == corev1.ConditionTrue {
			continue
		}
		if j.undecided() || j.Set.DeletionTimestamp != nil || !j.mine(pod) || pod.DeletionTimestamp != nil || ended {
			continue
		}
		ordinal := j.ordinalOf(pod.Name)
		since, out := drainedSince(pod)
		may := j.wanted(ordinal) && (j.mayTake(pod, ordinal) || j.mayUnblock(pod, ordinal))
		if !out || !asks || !may || j.rests() || j.Now.Sub(since) >= drain {
			j.broke("left drained", "pod %s at %s, with the conditions %v", pod.Name, revisionAt(pod), pod.Status.Conditions)
		}
	}
}

// verdicts: no condition that the update waits for says of its revision what was said of another: it
// is Unknown before a pod is changed, unless it has only just been set, and anew when containers
// have been restarted, unless it was set after that.
func (j *judged) verdicts() {
	for _, act := range planned[action.UpdateInPlace](j) {
		if pod := j.pods[act.Pod.Name]; pod != nil && act.Revision == j.plan.Status.UpdateRevision {
			j.noneUntil(pod, j.Now.Add(-time.Minute), act)
		}
	}
	for _, act := range planned[action.EndInPlace](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil || revisionAt(pod) != j.plan.Status.UpdateRevision || !j.wanted(act.Ordinal) || !j.isAbovePartition(act.Ordinal) ||
			j.goesBack() {
			continue
		}
		var note struct {
			Since time.Time `json:"since"`
		}
		if json.Unmarshal([]byte(pod.Annotations[v1.InPlaceAnnotation]), &note) == nil {
			j.noneUntil(pod, note.Since, act)
		}
	}
	for _, act := range planned[action.SetPodConditions](j) {
		for _, c := range act.Conditions {
			if forgets := c.Reason == "RevisionChanged"; forgets != (c.Status == corev1.ConditionUnknown) ||
				forgets && !slices.Contains(j.conditionsAhead(), string(c.Type)) {
				j.broke("old conditions", "%s, of the conditions %v", act, j.conditionsAhead())
			}
		}
	}
}

// noneUntil: nothing that the update waits for was said of a pod until a time.
func (j *judged) noneUntil(pod *corev1.Pod, until time.Time, act action.Action) {
	for _, c := range pod.Status.Conditions {
		if c.Status != corev1.ConditionUnknown && !c.LastTransitionTime.After(until) && slices.Contains(j.conditionsAhead(), string(c.Type)) {
			j.broke("old conditions", "%s, which keeps %v", act, c)
		}
	}
}

// conditionsAhead are the pod conditions that the update has yet to wait for.
func (j *judged) conditionsAhead() (all []string) {
	number, inSteps := j.step()
	if !j.isTracked() || !inSteps {
		return nil
	}
	for _, step := range j.steps()[number-1:] {
		all = append(all, step.PodConditions...)
	}
	return all
}
