// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
)

// PatchKinds are the ways in which a set can be patched.
func PatchKinds() []types.PatchType {
	return []types.PatchType{types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType, types.ApplyYAMLPatchType}
}

// Patch patches a set, and sends nothing if kind is none of PatchKinds.
func Patch(ctx context.Context, sets typed.StatefulSetInterface, name string, kind types.PatchType, patch []byte,
	options metav1.PatchOptions, subresources ...string) (*v1.StatefulSet, error) {
	if !slices.Contains(PatchKinds(), kind) {
		return nil, fmt.Errorf("patch kind %q: want one of %q", kind, PatchKinds())
	}
	if kind == types.ApplyYAMLPatchType && options.FieldManager == "" {
		return nil, fmt.Errorf("patch kind %q: want a field manager", kind)
	}
	return sets.Patch(ctx, name, kind, patch, options, subresources...)
}
