// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// Claims builds the claims of a member, in the order of their templates, with its override. The
// labels of a claim are those of the template and those of the set's selector, which win. The
// claims have no owner. Each shares its spec and its annotations with its template, but does not
// get annotations with reserved keys. Nothing is rendered.
func Claims(set *v1.StatefulSet, ordinal int) []*corev1.PersistentVolumeClaim {
	overrides := OverridesOf(set)
	claims := make([]*corev1.PersistentVolumeClaim, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		claims = append(claims, claimOf(set, overrides.ClaimTemplate(i, ordinal), ordinal))
	}
	return claims
}

// ClaimTemplates returns the names of the claim templates of a set, sorted. The order of the
// templates does not affect what a pod mounts.
func ClaimTemplates(set *v1.StatefulSet) string {
	names := make([]string, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		names = append(names, set.Spec.VolumeClaimTemplates[i].Name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Claim builds the claim of a member from the template with that index, as Claims does.
func Claim(set *v1.StatefulSet, template, ordinal int) *corev1.PersistentVolumeClaim {
	return claimOf(set, OverridesOf(set).ClaimTemplate(template, ordinal), ordinal)
}

// Claim builds the claim of a member from the template with that index, as Claims does, and renders
// it.
func (o *Overrides) Claim(template, ordinal int) (*corev1.PersistentVolumeClaim, *render.Error) {
	rendered, err := o.RenderedClaimTemplate(template, ordinal)
	if err != nil {
		return nil, err
	}
	return claimOf(o.set, rendered, ordinal), nil
}

// claimOf builds the claim of a member from a template to which its override and its parameters
// have been applied.
func claimOf(set *v1.StatefulSet, template *corev1.PersistentVolumeClaim, ordinal int) *corev1.PersistentVolumeClaim {
	claim := *template
	claim.Name = ClaimName(claim.Name, set.Name, ordinal)
	claim.Namespace = set.Namespace
	claim.Annotations = withoutReserved(claim.Annotations)
	if selector := set.Spec.Selector; selector != nil {
		labels := make(map[string]string, len(claim.Labels)+len(selector.MatchLabels))
		maps.Copy(labels, claim.Labels)
		maps.Copy(labels, selector.MatchLabels)
		claim.Labels = labels
	}
	return &claim
}
