// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"fmt"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Removal is the change of a set that removes some of its members.
type Removal struct {
	// Replicas is the number of members that remain.
	Replicas int32
	// Reserved has the ordinals of the removed members.
	Reserved []v1.OrdinalRange
}

// Remove returns the change of a set that removes exactly the members with these names.
func Remove(set *v1.StatefulSet, names []string) (Removal, error) {
	roster := identity.OrdinalsOf(set)
	removal := Removal{Replicas: int32(roster.Len())}
	for _, name := range names {
		base, ordinal, ok := identity.ParsePodName(name)
		switch {
		case !ok || base != set.Name:
			return Removal{},
				fmt.Errorf("%q is not a member of set %s; its members have names such as %s", name, set.Name, identity.PodName(set.Name, roster.First()))
		case !roster.Contains(ordinal):
			return Removal{}, fmt.Errorf("set %s has no member %s to remove", set.Name, name)
		case slices.Contains(removal.Reserved, v1.OrdinalRange{First: int32(ordinal)}):
			return Removal{}, fmt.Errorf("member %s is named twice", name)
		}
		removal.Reserved = append(removal.Reserved, v1.OrdinalRange{First: int32(ordinal)})
		removal.Replicas--
	}
	return removal, nil
}

// Apply applies the change to the set.
func (r Removal) Apply(set *v1.StatefulSet) {
	if set.Spec.Ordinals == nil {
		set.Spec.Ordinals = &v1.StatefulSetOrdinals{}
	}
	set.Spec.Replicas = &r.Replicas
	set.Spec.Ordinals.Reserved = append(set.Spec.Ordinals.Reserved, r.Reserved...)
}
