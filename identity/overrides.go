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

// Overrides are the overrides of a set, by ordinal. What depends only on an override is computed
// once, not for each of its members.
type Overrides struct {
	set *v1.StatefulSet
	// rows are the ranges of ordinals with an override, the lowest first. They do not overlap.
	rows []row
	// hashes are the hashes that pods record, and claims are the changed claim templates by index;
	// both by the index of the override.
	hashes []string
	claims []map[int]*corev1.PersistentVolumeClaim
	// renders renders the templates of a set with an identity. It is nil without one. named are the
	// claim templates that contain parameters, so that they must be rendered.
	renders *render.Renderer
	named   map[*corev1.PersistentVolumeClaim]bool
	// within limits the time in which expressions are evaluated.
	within *render.Evaluation
}

// row is a range of ordinals, including both ends, and the index of their override.
type row struct{ first, last, override int }

// OverridesOf returns the overrides of a set. The set must not change while they are used.
func OverridesOf(set *v1.StatefulSet) *Overrides { return OverridesWithin(nil, set) }

// OverridesWithin returns the overrides of a set whose expressions are evaluated only until the
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

// Of is the override of a member, nil if there is none.
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

// Hash is the value that OverrideAnnotation should have on the pod of a member. It is empty if the
// member has no override, or one that does not apply to pods.
func (o *Overrides) Hash(ordinal int) string {
	at, ok := o.at(ordinal)
	if !ok {
		return ""
	}
	return o.hashes[at]
}

// Template is the template for the pod of a member before it is rendered: the template of its
// revision with its override. It shares with both everything that it does not change.
func (o *Overrides) Template(template *corev1.PodTemplateSpec, ordinal int) *corev1.PodTemplateSpec {
	at, ok := o.at(ordinal)
	if !ok || o.hashes[at] == "" {
		return withoutRecords(template)
	}
	return overridden(template, &o.set.Spec.Overrides[at], o.hashes[at])
}

// ClaimTemplate is the template for the claim of a member before it is rendered: the claim template
// with that index and with the member's override.
func (o *Overrides) ClaimTemplate(template, ordinal int) *corev1.PersistentVolumeClaim {
	if at, ok := o.at(ordinal); ok {
		if changed := o.claims[at][template]; changed != nil {
			return changed
		}
	}
	return &o.set.Spec.VolumeClaimTemplates[template]
}
