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

// Claims builds the claims of a member, in the order of their templates. Their
// labels are the template's with the set's selector on top. They have no owner. Each
// shares its spec and its annotations with its template.
func Claims(set *v1.StatefulSet, ordinal int) []*corev1.PersistentVolumeClaim {
	claims := make([]*corev1.PersistentVolumeClaim, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		claims = append(claims, Claim(set, i, ordinal))
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
	claim := set.Spec.VolumeClaimTemplates[template]
	claim.Name = ClaimName(claim.Name, set.Name, ordinal)
	claim.Namespace = set.Namespace
	if set.Spec.Selector != nil {
		labels := make(map[string]string, len(claim.Labels)+len(set.Spec.Selector.MatchLabels))
		maps.Copy(labels, claim.Labels)
		maps.Copy(labels, set.Spec.Selector.MatchLabels)
		claim.Labels = labels
	}
	return &claim
}
