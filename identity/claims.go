// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Claims builds the claims of a member, in the order of their templates. Their
// labels are the template's with the set's selector on top. They have no owner.
func Claims(set *v1.StatefulSet, ordinal int) []*corev1.PersistentVolumeClaim {
	claims := make([]*corev1.PersistentVolumeClaim, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		claim := set.Spec.VolumeClaimTemplates[i].DeepCopy()
		claim.Name = ClaimName(claim.Name, set.Name, ordinal)
		claim.Namespace = set.Namespace
		if set.Spec.Selector != nil {
			if claim.Labels == nil {
				claim.Labels = map[string]string{}
			}
			maps.Copy(claim.Labels, set.Spec.Selector.MatchLabels)
		}
		claims = append(claims, claim)
	}
	return claims
}
