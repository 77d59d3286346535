// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	v1 "statefulset.dev/api/apps/v1"
)

func statusViewer(others polymorphichelpers.StatusViewerFunc) polymorphichelpers.StatusViewerFunc {
	return func(mapping *meta.RESTMapping) (polymorphichelpers.StatusViewer, error) {
		if mapping.GroupVersionKind.GroupKind() == ours() {
			return &rolloutViewer{stock: &polymorphichelpers.StatefulSetStatusViewer{}}, nil
		}
		return others(mapping)
	}
}

// rolloutViewer reports the progress of an update. For states that apps/v1 does not have, such as
// steps, a pause or a failed update, it prints the message of the set's condition Ready. For all
// others it prints the text of kubectl.
type rolloutViewer struct {
	stock polymorphichelpers.StatusViewer
	// lastMessage is the message that was printed last. During an update a set is written often,
	// mostly with the same message.
	lastMessage string
}

// Status returns the text to print, and whether the update has ended. If the update has failed or
// was rolled back, it returns an error.
func (v *rolloutViewer) Status(object runtime.Unstructured, revision int64) (string, bool, error) {
	set := &v1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.UnstructuredContent(), set); err != nil {
		return "", false, fmt.Errorf("reading a StatefulSet: %w", err)
	}
	if !isOnItsWay(set) {
		return v.stock.Status(withoutOurBlock(object, set), revision)
	}
	ready := set.Status.Condition(v1.StatefulSetReady)
	switch {
	case ready.Reason == v1.ReasonRolloutFailed, ready.Reason == v1.ReasonRolledBack:
		return "", true, errors.New(ready.Message)
	case ready.Message == v.lastMessage:
		return "", false, nil
	}
	v.lastMessage = ready.Message
	return ready.Message + "\n", false, nil
}

// isOnItsWay reports whether a set has an update that is not complete, with features that apps/v1
// does not have.
func isOnItsWay(set *v1.StatefulSet) bool {
	rollout, rolling := set.Status.Rollout, set.Spec.UpdateStrategy.RollingUpdate
	switch {
	case rollout == nil, set.Status.ObservedGeneration < set.Generation, set.Status.CurrentRevision == set.Status.UpdateRevision:
		return false
	case rollout.Aborted, rollout.Rollback:
		return true
	default:
		return rolling != nil && (rolling.IsPaused() || len(rolling.Steps) > 0 || rolling.FailurePolicy != nil)
	}
}

// withoutOurBlock returns the set without a block rollingUpdate that has no partition. With such a
// block, kubectl would conclude from the pods that exist now that the update has ended.
func withoutOurBlock(object runtime.Unstructured, set *v1.StatefulSet) runtime.Unstructured {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling == nil || rolling.Partition != nil {
		return object
	}
	plain := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object.UnstructuredContent())}
	unstructured.RemoveNestedField(plain.Object, "spec", "updateStrategy", "rollingUpdate")
	return plain
}
