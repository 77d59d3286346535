// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// asked reports whether the status before the plan names a pod as one to be replaced.
func (f evidence) asked(pod *corev1.Pod) bool {
	for _, request := range f.Set.Status.Replacements {
		if pod != nil && f.podName(int(request.Ordinal)) == pod.Name && request.PodUID == pod.UID {
			return true
		}
	}
	return false
}

// replaced: of the members with a request to replace them, those with the highest ordinals come
// first. An ordered set takes none while any does not serve. Only what is not ready goes without regard
// to others.
func (j *judged) replaced() {
	taken, begun, latest, any := map[int]bool{}, map[int]bool{}, -1, false
	for _, act := range j.updatesBegun() {
		if j.serves(act.Ordinal) {
			taken[act.Ordinal] = true
		}
	}
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason != action.DeleteOnRequest {
			continue
		}
		if _, broken := unreadySince(j.pods[act.Pod.Name]); broken {
			continue
		}
		if j.ordered() {
			j.allServe(act)
		}
		any = true
		if j.serves(act.Ordinal) {
			taken[act.Ordinal] = true
		}
		if j.isLeaving(act.Ordinal) {
			continue // its turn was when it was asked about
		}
		if latest < 0 || j.precedes(latest, act.Ordinal) {
			latest = act.Ordinal
		}
	}
	if !any {
		return
	}
	for _, act := range j.actions() {
		if pod := j.askedOrDrained(act); pod != nil {
			begun[j.ordinalOf(pod.Name)] = true // for an update, which comes before a request
		}
	}
	for _, ordinal := range j.ordinals {
		if latest < 0 || !j.precedes(ordinal, latest) || j.waitsFor(ordinal) >= 0 || !j.serves(ordinal) || !j.asked(j.member(ordinal)) ||
			taken[ordinal] || begun[ordinal] || j.isLeaving(ordinal) || j.mayBeUnrenderable(ordinal) {
			continue
		}
		j.broke("replace order", "member %d is replaced before member %d", latest, ordinal)
	}
}

// replacements: a request stays until its pod is gone, and not longer; the plan adds none.
func (j *judged) replacements() {
	var want []v1.MemberReplacement
	for _, request := range j.Set.Status.Replacements {
		if pod := j.pods[j.podName(int(request.Ordinal))]; pod != nil && j.mine(pod) && j.asked(pod) {
			want = append(want, request)
		}
	}
	if got := j.plan.Status.Replacements; !slices.Equal(got, want) {
		j.broke("replacements", "the status names the pods %v as to be replaced, want %v", got, want)
	}
}

// ask asks for the pod of a member to be replaced, as a forced request does.
func (s *stage) ask(name string) {
	s.t.Helper()
	pod := s.pods[name]
	if pod == nil {
		s.t.Fatalf("there is no pod %q to be replaced", name)
	}
	ordinal := int32(gather(s.world()).ordinalOf(name))
	asked := slices.DeleteFunc(slices.Clone(s.set.Status.Replacements), func(r v1.MemberReplacement) bool { return r.Ordinal == ordinal })
	asked = append(asked, v1.MemberReplacement{Ordinal: ordinal, PodUID: pod.UID})
	s.set.Status.Replacements = asked
}

// canAsk reports whether the server takes a request for a pod.
func (s *stage) canAsk(name string) bool {
	f := gather(s.world())
	ordinal := f.ordinalOf(name)
	return f.wanted(ordinal) && f.member(ordinal) != nil && s.set.DeletionTimestamp == nil && s.set.Annotations == nil
}
