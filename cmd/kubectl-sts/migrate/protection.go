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

// protected reports whether a set has the protection annotation. On a set of apps/v1 the annotation
// has no effect, but the move copies it, and it protects the new set.
func protected(set metav1.Object) bool {
	_, protected := v1.Protected(set)
	return protected
}

// refuseProtected returns why our set is not moved back: the move would delete it.
func refuseProtected(set *v1.StatefulSet, state moveState) error {
	text := "a move to apps/v1 deletes the set, and " + v1.ExplainProtection(set)
	if state == leaving {
		text += "; or undo the move with --undo"
	}
	return errors.New(text)
}

// discard deletes a set of our group that a move has created and that has adopted no pod yet. Its
// protection is a copy from the apps/v1 set, which stays. A separate write removes the copy.
func (c cluster) discard(ctx context.Context, set *v1.StatefulSet) error {
	sets := c.sets.AppsV1().StatefulSets(set.Namespace)
	if protected(set) {
		data, err := json.Marshal(boundPatch(set, map[string]any{"annotations": map[string]any{v1.ProtectAnnotation: nil}}))
		if err != nil {
			return fmt.Errorf("encoding a patch: %w", err)
		}
		if set, err = sets.Patch(ctx, set.Name, types.MergePatchType, data, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("removing its protection: %w", err)
		}
	}
	return sets.Delete(ctx, set.Name, orphaning(set))
}
