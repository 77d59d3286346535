// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Claims builds the claims of a member, in the order of their templates, with what its override
// says about them. Their labels are the template's with the set's selector on top. They have no
// owner. Each shares its spec and its annotations with its template.
func Claims(set *v1.StatefulSet, ordinal int) []*corev1.PersistentVolumeClaim {
	overrides := OverridesOf(set)
	claims := make([]*corev1.PersistentVolumeClaim, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		claims = append(claims, overrides.Claim(i, ordinal))
	}
	return claims
}

// ClaimTemplates names the claim templates of a set, in the order of their names: what a
// pod mounts does not depend on theirs.
func ClaimTemplates(set *v1.StatefulSet) string {
	names := make([]string, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		names = append(names, set.Spec.VolumeClaimTemplates[i].Name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Claim builds the claim of a member from the template of that index, as Claims does.
func Claim(set *v1.StatefulSet, template, ordinal int) *corev1.PersistentVolumeClaim {
	return OverridesOf(set).Claim(template, ordinal)
}

// Claim builds the claim of a member from the template of that index, as Claims does.
func (o *Overrides) Claim(template, ordinal int) *corev1.PersistentVolumeClaim {
	claim := *o.ClaimTemplate(template, ordinal)
	claim.Name = ClaimName(claim.Name, o.set.Name, ordinal)
	claim.Namespace = o.set.Namespace
	if selector := o.set.Spec.Selector; selector != nil {
		labels := make(map[string]string, len(claim.Labels)+len(selector.MatchLabels))
		maps.Copy(labels, claim.Labels)
		maps.Copy(labels, selector.MatchLabels)
		claim.Labels = labels
	}
	return &claim
}
