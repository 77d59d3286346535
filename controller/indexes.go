// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
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
	// byRevisionBase finds the revisions of the name "<base>-<hash>", and the sets
	// that name their revisions so.
	byRevisionBase = "revisionBase"
	// byOrphanage finds the revisions of a namespace that nobody controls.
	byOrphanage = "orphanage"
)

func setIndexers() cache.Indexers {
	return cache.Indexers{
		byNamespace: cache.MetaNamespaceIndexFunc,
		byUID:       indexBy(func(set *v1.StatefulSet) []string { return []string{string(set.UID)} }),
		byClaimBase: indexBy(func(set *v1.StatefulSet) []string {
			var bases []string
			for i := range set.Spec.VolumeClaimTemplates {
				bases = append(bases, in(set, set.Spec.VolumeClaimTemplates[i].Name+"-"+set.Name))
			}
			return bases
		}),
		byRevisionBase: indexBy(func(set *v1.StatefulSet) []string { return []string{in(set, revisionBase(set.Name))} }),
	}
}

func podIndexers() cache.Indexers {
	return cache.Indexers{
		byController: indexBy(controllerUID),
		byMemberOf: indexBy(func(pod metav1.Object) []string {
			set, _, ok := identity.ParsePodName(pod.GetName())
			if !ok {
				return nil
			}
			return []string{in(pod, set)}
		}),
	}
}

func claimIndexers() cache.Indexers {
	return cache.Indexers{
		byClaimBase: indexBy(func(claim metav1.Object) []string {
			// A claim's name ends like that of a pod.
			base, _, ok := identity.ParsePodName(claim.GetName())
			if !ok {
				return nil
			}
			return []string{in(claim, base)}
		}),
	}
}

func revisionIndexers() cache.Indexers {
	return cache.Indexers{
		byController: indexBy(controllerUID),
		byRevisionBase: indexBy(func(revision metav1.Object) []string {
			if base, ok := baseOfRevision(revision.GetName()); ok {
				return []string{in(revision, base)}
			}
			return nil
		}),
		byOrphanage: indexBy(func(revision metav1.Object) []string {
			if metav1.GetControllerOfNoCopy(revision) != nil {
				return nil
			}
			return []string{revision.GetNamespace()}
		}),
	}
}

func indexBy[T any](values func(T) []string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		if typed, ok := object.(T); ok {
			return values(typed), nil
		}
		return nil, nil
	}
}

func controllerUID(object metav1.Object) []string {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && controller.UID != "" {
		return []string{string(controller.UID)}
	}
	return nil
}

func in(object metav1.Object, name string) string { return object.GetNamespace() + "/" + name }

// revisionBase is what the names of a set's revisions begin with: the set's name,
// cut so that a hash fits behind it.
func revisionBase(set string) string {
	const longest = 223
	return set[:min(len(set), longest)]
}

// baseOfRevision takes the hash off the name of a revision. A hash has no dash.
func baseOfRevision(name string) (string, bool) {
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return "", false
	}
	return name[:dash], true
}
