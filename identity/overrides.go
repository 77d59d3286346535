// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Overrides are those of a set, by the ordinals that they are for. What follows from one is
// made once, when it is first asked for, however many members it has; so a value is for one
// goroutine.
type Overrides struct {
	set *v1.StatefulSet
	// rows are the ordinals with an override, the lowest first. They are apart.
	rows []row
	// made are what has been made of the overrides, by their index.
	made []made
}

// row is a row of ordinals, with both its ends, and the index of their override.
type row struct{ first, last, override int }

// made is what has been made of an override.
type made struct {
	hash      *string
	templates map[*corev1.PodTemplateSpec]*corev1.PodTemplateSpec
	claims    map[int]*corev1.PersistentVolumeClaim
}

// OverridesOf are the overrides of a set, which must not change as long as they are used.
func OverridesOf(set *v1.StatefulSet) *Overrides {
	o := &Overrides{set: set}
	for i := range set.Spec.Overrides {
		for _, r := range set.Spec.Overrides[i].Ordinals {
			o.rows = append(o.rows, row{int(r.First), int(r.End()), i})
		}
	}
	if len(o.rows) > 0 {
		o.made = make([]made, len(set.Spec.Overrides))
		slices.SortStableFunc(o.rows, func(a, b row) int { return cmp.Compare(a.first, b.first) })
	}
	return o
}

// Of is the override that a member is to have, nil if there is none.
func (o *Overrides) Of(ordinal int) *v1.MemberOverride {
	if at, ok := o.at(ordinal); ok {
		return &o.set.Spec.Overrides[at]
	}
	return nil
}

func (o *Overrides) at(ordinal int) (override int, ok bool) {
	at := sort.Search(len(o.rows), func(i int) bool { return o.rows[i].first > ordinal }) - 1
	if at < 0 || ordinal > o.rows[at].last {
		return 0, false
	}
	return o.rows[at].override, true
}

// Hash is what the pod of a member is to have in its annotation OverrideAnnotation, empty if it
// is to have none: the member has no override, or one that says nothing about pods.
func (o *Overrides) Hash(ordinal int) string {
	at, ok := o.at(ordinal)
	if !ok {
		return ""
	}
	return o.hash(at)
}

func (o *Overrides) hash(override int) string {
	known := &o.made[override].hash
	if *known == nil {
		*known = new(hashOf(&o.set.Spec.Overrides[override]))
	}
	return **known
}

// Template is what the pod of a member is made from: the template of its revision, with its
// override. It shares with both what it does not change.
func (o *Overrides) Template(template *corev1.PodTemplateSpec, ordinal int) *corev1.PodTemplateSpec {
	at, ok := o.at(ordinal)
	if !ok || o.hash(at) == "" {
		return withoutNote(template)
	}
	known := &o.made[at]
	if found := known.templates[template]; found != nil {
		return found
	}
	if known.templates == nil {
		known.templates = map[*corev1.PodTemplateSpec]*corev1.PodTemplateSpec{}
	}
	known.templates[template] = overridden(template, &o.set.Spec.Overrides[at], o.hash(at))
	return known.templates[template]
}

// ClaimTemplate is what the claim of a member is made from: the claim template of that index,
// with the member's override.
func (o *Overrides) ClaimTemplate(template, ordinal int) *corev1.PersistentVolumeClaim {
	plain := &o.set.Spec.VolumeClaimTemplates[template]
	at, ok := o.at(ordinal)
	if !ok {
		return plain
	}
	known := &o.made[at]
	if known.claims == nil {
		known.claims = overriddenClaims(o.set.Spec.VolumeClaimTemplates, o.set.Spec.Overrides[at].VolumeClaims)
	}
	if changed := known.claims[template]; changed != nil {
		return changed
	}
	return plain
}
