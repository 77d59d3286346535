// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import "fmt"

// Unlucky is an image with which no pod becomes ready.
const Unlucky = "example.com/web:0"

// Beyond returns the scenarios with fields that apps/v1 does not have, or does not let
// change, always in the same order.
func Beyond() []Scenario {
	return []Scenario{
		{"an update that cannot start is corrected", ordered(3), steps(
			Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"replaceUnreadyAfterSeconds":0}}}}`), image(0), Wait{"a member does not become ready", notBroken}, image(2), Settled)},
		{"a member is removed in the middle and brought back", ordered(3), steps(reserve, Settled, free, Settled)},
		{"a member is removed in the middle of an update and brought back", ordered(3), steps(image(2), reserve, Settled, free, Settled)},
		{"the policy and the service change in the middle of updates", ordered(3), steps(
			image(2), updated(1), Patch(`{"spec":{"podManagementPolicy":"Parallel","serviceName":"other","replicas":5}}`), Settled,
			image(3), updated(1), Patch(`{"spec":{"podManagementPolicy":"OrderedReady","serviceName":"web"}}`), Settled)},
	}
}

// reserve takes the member in the middle away, and free brings it back.
const (
	reserve = Patch(`{"spec":{"replicas":2,"ordinals":{"reserved":[{"first":1}]}}}`)
	free    = Patch(`{"spec":{"replicas":3,"ordinals":{"reserved":null}}}`)
)

func notBroken(o Observed) string {
	for i := range o.Pods {
		if o.Pods[i].Spec.Containers[0].Image == Unlucky && o.Pods[i].DeletionTimestamp == nil {
			return ""
		}
	}
	return fmt.Sprintf("none of %d pods has the image %s", len(o.Pods), Unlucky)
}
