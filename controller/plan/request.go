// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"statefulset.dev/controller/plan/action"
)

// RequestKey identifies the request of an action to the host cluster: two actions with the same
// text request the same. A pod of another revision, another pod of the same name, and an object
// with other content are other requests. The version of the changed object is not part of the text,
// and neither is the time.
func RequestKey(act action.Action) string {
	text := act.String()
	if target := TargetOf(act); target.UID != "" {
		text += " " + string(target.UID)
	}
	switch act := act.(type) {
	case action.CreateMember:
		return text + fingerprint(act.Pod.Spec)
	case action.CreateObject:
		return text + fingerprint(act.Object)
	case action.ApplyObject:
		return text + fingerprint(act.Object)
	case action.CreateClaims, action.SetClaimOwners, action.UpdateClaim, action.MarkClaim, action.DeleteClaim, action.MarkObject,
		action.SetObjectOwners, action.CreateAnchor, action.OwnAnchor, action.DeleteObject,
		action.RepairPod, action.PatchPod, action.SetPodConditions, action.DeletePod, action.UpdateInPlace, action.ResizePod, action.EndInPlace,
		action.AdoptPod, action.ReleasePod,
		action.CreateRevision, action.RaiseRevision, action.AdoptRevision, action.DeleteRevision:
	}
	return text
}

// fingerprint distinguishes contents that the text of an action does not name.
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
func TargetOf(act action.Action) action.Target { //nolint:gocyclo // a case for each kind of action
	switch act := act.(type) {
	case action.SetClaimOwners:
		return act.Claim
	case action.UpdateClaim:
		return act.Claim
	case action.MarkClaim:
		return act.Claim
	case action.DeleteClaim:
		return act.Claim
	case action.ApplyObject:
		return act.At
	case action.MarkObject:
		return act.At
	case action.SetObjectOwners:
		return act.At
	case action.DeleteObject:
		return act.At
	case action.OwnAnchor:
		return act.Anchor
	case action.RepairPod:
		return act.Pod
	case action.PatchPod:
		return act.Pod
	case action.SetPodConditions:
		return act.Pod
	case action.DeletePod:
		return act.Pod
	case action.UpdateInPlace:
		return act.Pod
	case action.ResizePod:
		return act.Pod
	case action.EndInPlace:
		return act.Pod
	case action.AdoptPod:
		return act.Pod
	case action.ReleasePod:
		return act.Pod
	case action.RaiseRevision:
		return act.Revision
	case action.AdoptRevision:
		return act.Revision
	case action.DeleteRevision:
		return act.Revision
	case action.CreateMember, action.CreateClaims, action.CreateObject, action.CreateAnchor, action.CreateRevision:
	}
	return action.Target{}
}
