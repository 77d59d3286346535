// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// lostVolumes tells of claims of members whose volume is gone. The pod may run on, and be ready, until it is recreated, so that the
// set does not say it.
func lostVolumes(sets []v1.StatefulSet, claims []corev1.PersistentVolumeClaim) []finding {
	var found []finding
	for i := range claims {
		claim := &claims[i]
		if claim.Status.Phase != corev1.ClaimLost || claim.DeletionTimestamp != nil {
			continue
		}
		member, ok := memberWith(sets, claim)
		if !ok {
			continue
		}
		about := fmt.Sprintf("claim %s/%s", claim.Namespace, claim.Name)
		says := fmt.Sprintf("its volume %s is gone; the claim never gets another one, so member %s cannot come back with it",
			claim.Spec.VolumeName, member)
		give := fmt.Sprintf(
			"kubectl sts -n %s replace %s --new-claims  # gives up what all claims of this member hold; it comes back with new, empty ones",
			claim.Namespace, member)
		found = append(found, isDoubtful(about, says, give))
	}
	return found
}

// memberWith is the member of a set that has the claim, and that the set is to have.
func memberWith(sets []v1.StatefulSet, claim *corev1.PersistentVolumeClaim) (member string, ok bool) {
	for i := range sets {
		set := &sets[i]
		if set.Namespace != claim.Namespace {
			continue
		}
		for _, template := range set.Spec.VolumeClaimTemplates {
			member, isOf := strings.CutPrefix(claim.Name, template.Name+"-")
			if !isOf {
				continue
			}
			if name, ordinal, parsed := identity.ParsePodName(member); parsed && name == set.Name && identity.OrdinalsOf(set).Contains(ordinal) {
				return member, true
			}
		}
	}
	return "", false
}
