// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// The indexes, named by what they are asked for. Values that are names have the
// namespace in front: "<namespace>/<name>".
const (
	byNamespace = cache.NamespaceIndex
	// byUID finds a set by its own UID.
	byUID = "uid"
	// byController finds what the set of a UID controls.
	byController = "controller"
	// byMemberOf finds the pods whose names say that they are members of a set.
	byMemberOf = "memberOf"
	// byClaimBase finds the claims of the name "<base>-<ordinal>", and the sets that
	// name their claims so.
	byClaimBase = "claimBase"
	// byKnowing finds the claims that record generated Secrets, by the names of the sets that they may
	// be of: "<any template>-<set>-<ordinal>".
	byKnowing = "knowing"
	// byClaimOwner finds the claims that the set or the pod of a UID controls and that have the
	// name of a member's claim, whether or not the set still has the claim template.
	byClaimOwner = "claimOwner"
	// byRevisionBase finds the revisions of the name "<base>-<hash>", and the sets
	// that name their revisions so.
	byRevisionBase = "revisionBase"
	// byObjectKind finds the sets that describe objects of a kind.
	byObjectKind = "objectKind"
	// byOrphanage finds the revisions of a namespace that nobody controls.
	byOrphanage = "orphanage"
	// byBucket finds stubs by the hash of their base.
	byBucket = "bucket"
)

func controllerUID(object metav1.Object) []string {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && controller.UID != "" {
		return []string{string(controller.UID)}
	}
	return nil
}
