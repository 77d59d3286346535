// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// Overrides are those of a set, by the ordinals that they are for. What follows from one is
// found once, however many members it has.
type Overrides struct {
	set *v1.StatefulSet
	// rows are the ordinals with an override, the lowest first. They are apart.
	rows []row
	// hashes and claims are, by the index of an override, what its pods note, and the claim
	// templates that it changes, by their index.
	hashes []string
	claims []map[int]*corev1.PersistentVolumeClaim
	// renders renders what is made from a set that has an identity, nil of any other. named are
	// the claim templates that name parameters, of which there is anything to render.
	renders *render.Renderer
	named   map[*corev1.PersistentVolumeClaim]bool
	// within says until when expressions may be evaluated.
	within *render.Evaluation
}

// row is a row of ordinals, with both its ends, and the index of their override.
type row struct{ first, last, override int }

// OverridesOf are the overrides of a set, which must not change as long as they are used.
func OverridesOf(set *v1.StatefulSet) *Overrides { return OverridesWithin(nil, set) }

// OverridesWithin are the overrides of a set, of which expressions are evaluated only until the
// evaluation ends.
func OverridesWithin(within *render.Evaluation, set *v1.StatefulSet) *Overrides {
	o := &Overrides{set: set, within: within}
	for i := range set.Spec.Overrides {
		override := &set.Spec.Overrides[i]
		for _, r := range override.Ordinals {
			o.rows = append(o.rows, row{int(r.First), int(r.End()), i})
		}
		o.hashes = append(o.hashes, hashOf(override))
		o.claims = append(o.claims, overriddenClaims(set.Spec.VolumeClaimTemplates, override.VolumeClaims))
	}
	slices.SortStableFunc(o.rows, func(a, b row) int { return cmp.Compare(a.first, b.first) })
	if set.Spec.Identity != nil {
		o.renders, o.named = o.renderer(set.Spec.Identity), o.claimsWithNames()
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
	return o.hashes[at]
}

// Template is what the pod of a member is made from before it is rendered: the template of its
// revision, with its override. It shares with both what it does not change.
func (o *Overrides) Template(template *corev1.PodTemplateSpec, ordinal int) *corev1.PodTemplateSpec {
	at, ok := o.at(ordinal)
	if !ok || o.hashes[at] == "" {
		return withoutRecords(template)
	}
	return overridden(template, &o.set.Spec.Overrides[at], o.hashes[at])
}

// ClaimTemplate is what the claim of a member is made from before it is rendered: the claim
// template of that index, with the member's override.
func (o *Overrides) ClaimTemplate(template, ordinal int) *corev1.PersistentVolumeClaim {
	if at, ok := o.at(ordinal); ok {
		if changed := o.claims[at][template]; changed != nil {
			return changed
		}
	}
	return &o.set.Spec.VolumeClaimTemplates[template]
}
