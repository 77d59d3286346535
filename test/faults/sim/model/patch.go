// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// applyPatch applies a patch to an object.
func (k kind) applyPatch(object Object, patchType types.PatchType, patch []byte) (Object, error) {
	before, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding the object to patch: %w", err)
	}
	var after []byte
	switch patchType {
	case types.MergePatchType:
		after, err = mergePatch(before, patch)
	case types.JSONPatchType:
		after, err = jsonPatch(before, patch)
	case types.StrategicMergePatchType:
		after, err = strategicpatch.StrategicMergePatch(before, patch, k.empty())
	default:
		err = fmt.Errorf("patch type %q is not supported", patchType)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	patched := k.empty()
	if err := json.Unmarshal(after, patched); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return patched, nil
}

func mergePatch(document, patch []byte) ([]byte, error) {
	var into, from any
	if err := json.Unmarshal(document, &into); err != nil {
		return nil, fmt.Errorf("decoding the object to patch: %w", err)
	}
	if err := json.Unmarshal(patch, &from); err != nil {
		return nil, fmt.Errorf("decoding the patch: %w", err)
	}
	merged, err := json.Marshal(merge(into, from))
	if err != nil {
		return nil, fmt.Errorf("encoding the patched object: %w", err)
	}
	return merged, nil
}

func jsonPatch(document, patch []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("decoding the patch: %w", err)
	}
	patched, err := operations.Apply(document)
	if err != nil {
		return nil, fmt.Errorf("applying the patch: %w", err)
	}
	return patched, nil
}

// merge implements RFC 7386: null removes, objects are merged, everything else is replaced.
func merge(into, from any) any {
	patch, ok := from.(map[string]any)
	if !ok {
		return from
	}
	merged, ok := into.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for key, value := range patch {
		if value == nil {
			delete(merged, key)
		} else {
			merged[key] = merge(merged[key], value)
		}
	}
	return merged
}
