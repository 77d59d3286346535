// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
)

// word is what a generic reader calls a set, such as Helm and Flux, which know
// nothing of our group.
func word(t tester, set *v1.StatefulSet) status.Status {
	t.Helper()
	typed := v1.StatefulSet{ObjectMeta: set.ObjectMeta, Status: set.Status} // nothing of a spec matters to it
	typed.SetGroupVersionKind(v1.GroupVersionKind())
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	if err != nil {
		t.Fatalf("converting the set: %v", err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatalf("computing the word: %v", err)
	}
	return result.Status
}

// checkWord compares the word with the one that follows from the world that the
// status was made of, and from what failed.
func (h *host) checkWord(view World, failed []Failure, goesOn bool) {
	failed = slices.DeleteFunc(slices.Clone(failed), isMinor)
	h.t.Helper()
	f := gather(view)
	want := status.InProgressStatus
	switch stalled := h.conditionNow(v1.StatefulSetStalled).Status == corev1.ConditionTrue; {
	case h.set.DeletionTimestamp != nil:
		want = status.TerminatingStatus
	case f.held():
	case stalled:
		want = status.FailedStatus
	case goesOn && len(f.ordinals) > 0:
	case len(failed) == 0 && h.conditionNow(v1.StatefulSetReady).Reason != v1.ReasonWaitingForRevisions && len(f.notDesired()) == 0 &&
		!f.runsForgotten(h.set.Status.UpdateRevision):
		want = status.CurrentStatus
	}
	if got := word(h.t, h.set); got != want {
		h.t.Fatalf("[word] a generic reader calls the set %s, want %s; it lacks %v, and says %v", got, want, f.notDesired(),
			h.set.Status.Conditions)
	}
}

// runsForgotten reports whether a member that follows the template runs a revision of which there is no
// record, and that is not the present one. Its pod may look as it should: what else it was made from, nobody
// can say.
func (f evidence) runsForgotten(updated string) bool {
	return f.strategy() != v1.OnDeleteStatefulSetStrategyType && slices.ContainsFunc(f.ordinals, func(ordinal int) bool {
		pod := f.member(ordinal)
		at := pod.Labels[revisionLabel]
		return f.isAbovePartition(ordinal) && at != updated && f.revisions[at] == nil
	})
}

// held reports whether the set is held.
func (f evidence) held() bool {
	_, held := f.Set.Annotations[v1.HoldAnnotation]
	return held
}
