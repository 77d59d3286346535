// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "k8s.io/apimachinery/pkg/types"

// TellMembers calls tell for each desired member that has a pod, in ascending order, with the
// ordinal, the UID and the revision of the pod, and whether the member is available. From the world
// it needs only the set, its pods and the time.
func TellMembers(world World, tell func(ordinal int, pod types.UID, revision string, serves bool)) {
	f := survey(world, &reader{})
	for _, m := range f.members {
		if m.pod != nil {
			tell(m.ordinal, m.pod.UID, revisionOf(m.pod), !f.unavailable(m))
		}
	}
}
