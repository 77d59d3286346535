// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"fmt"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Removal is a set without some of its members.
type Removal struct {
	// Replicas is the number of members that are left.
	Replicas int32
	// Reserved are the ordinals of those that are removed.
	Reserved []v1.OrdinalRange
}

// Remove says what has to become of a set so that it loses the members of these names, and
// no others.
func Remove(set *v1.StatefulSet, names []string) (Removal, error) {
	roster := identity.OrdinalsOf(set)
	removal := Removal{Replicas: int32(roster.Len())}
	for _, name := range names {
		base, ordinal, ok := identity.ParsePodName(name)
		switch {
		case !ok || base != set.Name:
			return Removal{},
				fmt.Errorf("%q is no member of set %s; its members are named like %s", name, set.Name, identity.PodName(set.Name, roster.First()))
		case !roster.Contains(ordinal):
			return Removal{}, fmt.Errorf("set %s has no member %s, so that it cannot be removed", set.Name, name)
		case slices.Contains(removal.Reserved, v1.OrdinalRange{First: int32(ordinal)}):
			return Removal{}, fmt.Errorf("member %s is named twice", name)
		}
		removal.Reserved = append(removal.Reserved, v1.OrdinalRange{First: int32(ordinal)})
		removal.Replicas--
	}
	return removal, nil
}

// Apply changes the set itself.
func (r Removal) Apply(set *v1.StatefulSet) {
	if set.Spec.Ordinals == nil {
		set.Spec.Ordinals = &v1.StatefulSetOrdinals{}
	}
	set.Spec.Replicas = &r.Replicas
	set.Spec.Ordinals.Reserved = append(set.Spec.Ordinals.Reserved, r.Reserved...)
}
