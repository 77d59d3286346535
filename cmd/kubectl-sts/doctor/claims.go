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

// lostVolumes reports claims of members whose volume no longer exists. The status of the set does
// not report them, because the pod may keep running and be ready until it is recreated.
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
		says := fmt.Sprintf("its volume %s no longer exists; the claim never gets another one, so member %s cannot come back with it",
			claim.Spec.VolumeName, member)
		give := fmt.Sprintf(
			"kubectl sts -n %s replace %s --new-claims  # gives up the data of all claims of this member; it comes back with new, empty claims",
			claim.Namespace, member)
		found = append(found, warnFinding(about, says, give))
	}
	return found
}

// memberWith returns the desired member of a set that has the claim.
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
