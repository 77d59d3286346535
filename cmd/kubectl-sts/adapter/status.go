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

// rolloutViewer tells how far the update of a set is. What apps/v1 has no notion of, such as steps, a pause or an update
// that has failed, it tells in the words of the set's conditions, and all else in those of kubectl.
type rolloutViewer struct {
	stock polymorphichelpers.StatusViewer
	// said is what was told last. A set under way is written often, and mostly there is nothing new to be told.
	said string
}

// Status returns what is to be printed, and whether the update is at its end. It is an error that the update has failed
// or was taken back.
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
	case ready.Message == v.said:
		return "", false, nil
	}
	v.said = ready.Message
	return ready.Message + "\n", false, nil
}

// isOnItsWay reports whether the status of a set speaks of an update that goes in a way that apps/v1 does not know.
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

// withoutOurBlock is the set as kubectl has to see it. Of a block rollingUpdate without a partition it thinks that the
// update goes as far as the pods are now, and that is at its end.
func withoutOurBlock(object runtime.Unstructured, set *v1.StatefulSet) runtime.Unstructured {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling == nil || rolling.Partition != nil {
		return object
	}
	plain := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object.UnstructuredContent())}
	unstructured.RemoveNestedField(plain.Object, "spec", "updateStrategy", "rollingUpdate")
	return plain
}
