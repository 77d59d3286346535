// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"statefulset.dev/controller/plan"
)

// grow gives bound claims the size and the attributes that they request, except for claims that the
// host cluster has reported as infeasible.
func (h *host) grow() []string {
	var happened []string
	for _, name := range slices.Sorted(maps.Keys(h.Claims)) {
		claim := h.Claims[name]
		if claim.Status.Phase != corev1.ClaimBound || claim.DeletionTimestamp != nil || h.stuck[name] {
			continue
		}
		asked, has := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
		if !has.IsZero() && has.Cmp(asked) < 0 {
			happened = append(happened, "claim "+name+" has "+asked.String())
			change(h.Claims, name, func(claim *corev1.PersistentVolumeClaim) {
				claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: asked}
				claim.Status.Conditions = nil
			})
		}
		if class := claim.Spec.VolumeAttributesClassName; class != nil && *class != ptr.Deref(claim.Status.CurrentVolumeAttributesClassName, "") {
			happened = append(happened, "claim "+name+" has the attributes of class "+*class)
			change(h.Claims, name, func(claim *corev1.PersistentVolumeClaim) { claim.Status.CurrentVolumeAttributesClassName = class })
		}
	}
	return happened
}

// cannotGrow reports whether the host cluster has reported the requested size or attributes of a
// claim as infeasible.
func cannotGrow(claim *corev1.PersistentVolumeClaim) bool {
	modify := claim.Status.ModifyVolumeStatus
	return plan.IsGrowthInfeasible(claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]) ||
		modify != nil && modify.Status == corev1.PersistentVolumeClaimModifyVolumeInfeasible
}
