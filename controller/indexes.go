// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// The indexes, named by their keys. Keys that are names are prefixed with the namespace:
// "<namespace>/<name>".
const (
	byNamespace = cache.NamespaceIndex
	// byUID finds a set by its own UID.
	byUID = "uid"
	// byController finds the objects that a set controls, by its UID.
	byController = "controller"
	// byMemberOf finds the pods that belong to a set according to their names.
	byMemberOf = "memberOf"
	// byClaimBase finds the claims named "<base>-<ordinal>", and the sets whose claims have such
	// names.
	byClaimBase = "claimBase"
	// byRecordedSecrets finds the claims that record generated Secrets, by the names of the sets
	// that they may belong to: "<any template>-<set>-<ordinal>".
	byRecordedSecrets = "knowing"
	// byClaimOwner finds the claims with the name of a member's claim that a set or a pod controls,
	// by the UID of the set or pod. It does not matter whether the set still has the claim
	// template.
	byClaimOwner = "claimOwner"
	// byRevisionBase finds the revisions named "<base>-<hash>", and the sets whose revisions have
	// such names.
	byRevisionBase = "revisionBase"
	// byObjectKind finds the sets that describe objects of a kind.
	byObjectKind = "objectKind"
	// byOrphanage finds the revisions of a namespace that have no controller.
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
