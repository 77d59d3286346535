// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
)

// RequestOf identifies what an action asks the host for: two actions with the same text ask for the
// same. A pod of another revision, another pod of the same name and an object with another content
// are other requests. The version of the object that is changed is no part of it, nor is the time.
func RequestOf(action Action) string {
	text := action.String()
	if target := TargetOf(action); target.UID != "" {
		text += " " + string(target.UID)
	}
	switch action := action.(type) {
	case CreateMember:
		return text + fingerprint(action.Pod.Spec)
	case CreateObject:
		return text + fingerprint(action.Object)
	case ApplyObject:
		return text + fingerprint(action.Object)
	case CreateClaims, SetClaimOwners, UpdateClaim, MarkClaim, DeleteClaim, MarkObject, SetObjectOwners, CreateAnchor, OwnAnchor, DeleteObject,
		RepairPod, PatchPod, SetPodConditions, DeletePod, UpdateInPlace, ResizePod, EndInPlace, AdoptPod, ReleasePod,
		CreateRevision, RaiseRevision, AdoptRevision, DeleteRevision:
	}
	return text
}

// fingerprint tells contents apart that the text of an action does not name.
func fingerprint(content any) string {
	written, err := json.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("encoding a request: %v", err)) // it came from an API
	}
	sum := fnv.New64a()
	_, _ = sum.Write(written) // it never fails
	return fmt.Sprintf(" %x", sum.Sum64())
}

// TargetOf is the object that an action changes, the zero value for an action that creates objects.
func TargetOf(action Action) Target { //nolint:gocyclo // a case for each kind of action
	switch action := action.(type) {
	case SetClaimOwners:
		return action.Claim
	case UpdateClaim:
		return action.Claim
	case MarkClaim:
		return action.Claim
	case DeleteClaim:
		return action.Claim
	case ApplyObject:
		return action.At
	case MarkObject:
		return action.At
	case SetObjectOwners:
		return action.At
	case DeleteObject:
		return action.At
	case OwnAnchor:
		return action.Anchor
	case RepairPod:
		return action.Pod
	case PatchPod:
		return action.Pod
	case SetPodConditions:
		return action.Pod
	case DeletePod:
		return action.Pod
	case UpdateInPlace:
		return action.Pod
	case ResizePod:
		return action.Pod
	case EndInPlace:
		return action.Pod
	case AdoptPod:
		return action.Pod
	case ReleasePod:
		return action.Pod
	case RaiseRevision:
		return action.Revision
	case AdoptRevision:
		return action.Revision
	case DeleteRevision:
		return action.Revision
	case CreateMember, CreateClaims, CreateObject, CreateAnchor, CreateRevision:
	}
	return Target{}
}
