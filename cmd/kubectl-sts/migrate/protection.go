// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// protected reports whether a set is to stay where it is. On a set of apps/v1 nothing heeds the
// annotation; it is moved along, and protects the new set.
func protected(set metav1.Object) bool {
	_, protected := v1.Protected(set)
	return protected
}

// refuseProtected says why our set, which a move back would delete, is not moved.
func refuseProtected(set *v1.StatefulSet, course course) error {
	text := "a move to apps/v1 deletes the set, and " + v1.ExplainProtection(set)
	if course == leaving {
		text += "; or undo the move with --undo"
	}
	return errors.New(text)
}

// discard deletes a set of ours that a move has created and that has taken no pod yet. Its
// protection is a copy of that of the apps/v1 set, which stays, and ends in a write of its own.
func (c cluster) discard(ctx context.Context, set *v1.StatefulSet) error {
	sets := c.sets.AppsV1().StatefulSets(set.Namespace)
	if protected(set) {
		data, err := json.Marshal(boundPatch(set, map[string]any{"annotations": map[string]any{v1.ProtectAnnotation: nil}}))
		if err != nil {
			return fmt.Errorf("encoding a patch: %w", err)
		}
		if set, err = sets.Patch(ctx, set.Name, types.MergePatchType, data, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("ending its protection: %w", err)
		}
	}
	return sets.Delete(ctx, set.Name, orphaning(set))
}
