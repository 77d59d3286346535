// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	setinformers "statefulset.dev/client/informers/externalversions/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/identity"
)

// setsKind are the sets themselves. They are in our own API, where the controller writes only their
// status (status.go).
func setsKind(sets versioned.Interface) kind {
	return kind{
		resource: setsResource,
		group:    v1.GroupName,
		noun:     "set",
		newInformer: func() cache.SharedIndexInformer {
			return setinformers.NewFilteredStatefulSetInformer(sets, metav1.NamespaceAll, 0, cache.Indexers{}, hostread.RequireQuorumList)
		},
		trim: trimmed(trimSet),
		indexes: cache.Indexers{
			byNamespace: cache.MetaNamespaceIndexFunc,
			byUID:       hostread.IndexBy(func(set *v1.StatefulSet) []string { return []string{string(set.UID)} }),
			byClaimBase: hostread.IndexBy(func(set *v1.StatefulSet) []string {
				var bases []string
				for _, base := range claimBases(set) {
					bases = append(bases, hostread.IndexKey(set, base))
				}
				return bases
			}),
			byObjectKind: hostread.IndexBy(func(set *v1.StatefulSet) []string {
				var kinds []string
				for _, kind := range identity.ObjectKinds(set) {
					kinds = append(kinds, kind.GroupKind().String())
				}
				return kinds
			}),
			byRevisionBase: hostread.IndexBy(func(set *v1.StatefulSet) []string {
				return []string{hostread.IndexKey(set, identity.RevisionBase(set.Name))}
			}),
		},
		concerns: setsOfSet,
		changed:  setChanged,
	}
}

func trimSet(_ view, set *v1.StatefulSet) any {
	set.ManagedFields = nil
	return set
}

// setsOfSet are the set itself, and sets whose claims have the same names, which may have been
// waiting for its deletion.
func setsOfSet(v view, object metav1.Object) []*v1.StatefulSet {
	set, ok := object.(*v1.StatefulSet)
	if !ok {
		return nil
	}
	all := []*v1.StatefulSet{set}
	for _, base := range claimBases(set) {
		all = append(all, find[*v1.StatefulSet](v, setsResource, byClaimBase, hostread.IndexKey(set, base))...)
	}
	return all
}

// setChanged is false for a status that this controller wrote, unless it changed what the planner
// reads of a status. After a completed update, a revision may have to be deleted, and the planner
// records rollout decisions in the status before it acts on them.
func setChanged(memory *setStates, before, after any) bool {
	earlier, was := before.(*v1.StatefulSet)
	later, is := after.(*v1.StatefulSet)
	if !was || !is {
		return true
	}
	return earlier.Status.CurrentRevision != later.Status.CurrentRevision ||
		!equality.Semantic.DeepEqual(earlier.Status.Rollout, later.Status.Rollout) ||
		!memory.find(cache.MetaObjectToName(later)).isOwnStatus(later.ResourceVersion)
}

// claimBases are the prefixes of the names of a set's claims, by claim template.
func claimBases(set *v1.StatefulSet) []string {
	bases := make([]string, len(set.Spec.VolumeClaimTemplates))
	for i := range bases {
		bases[i] = identity.ClaimBase(set.Spec.VolumeClaimTemplates[i].Name, set.Name)
	}
	return bases
}
