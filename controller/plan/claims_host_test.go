// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// resize lets the host go on with a claim that is to grow: to its end, to where only the
// node's part is left, or to where it cannot go on.
func (s *stage) resize(name, how string) {
	s.changeClaim(name, func(claim *corev1.PersistentVolumeClaim) {
		claim.Status.AllocatedResourceStatuses, claim.Status.Conditions = nil, nil
		switch how {
		case "grown":
			claim.Status.Capacity = claim.Spec.Resources.Requests
			claim.Status.CurrentVolumeAttributesClassName = claim.Spec.VolumeAttributesClassName
		case "nodepending":
			claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{
				{Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue}}
		case "infeasible":
			claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
				corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible}
			claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{
				{Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue, Message: "no space left in the pool"}}
		case "nodeinfeasible":
			claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
				corev1.ResourceStorage: corev1.PersistentVolumeClaimNodeResizeInfeasible}
			claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{
				{Type: corev1.PersistentVolumeClaimNodeResizeError, Status: corev1.ConditionTrue, Message: "the file system does not grow"}}
		}
	})
}

// provision binds claims that run pods mount, if the set follows its templates, and gives
// claims that are bound what they ask for.
func (s *stage) provision() (acted []string) {
	for _, name := range slices.Sorted(maps.Keys(s.claims)) {
		if s.claims[name].Status.Phase != corev1.ClaimBound && s.set.Spec.VolumeClaimUpdate != nil && s.mounted(name) {
			s.trouble("bind", []string{name})
			acted = append(acted, "bound "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.claims)) {
		claim := s.claims[name]
		if s.isStuck(claim) {
			continue
		}
		size, has := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
		class := ptr.Deref(claim.Spec.VolumeAttributesClassName, "")
		if claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil &&
			(has.Cmp(size) < 0 || class != ptr.Deref(claim.Status.CurrentVolumeAttributesClassName, "")) {
			s.resize(name, "grown")
			acted = append(acted, "grown "+name)
		}
	}
	return acted
}

// shapeless reports whether members do not mount the claims of the templates, and are not
// recreated for it.
func (s *stage) shapeless() bool {
	return len(s.shapelessPods()) > 0
}

func (s *stage) shapelessPods() (names []string) {
	f := gather(s.world())
	for _, ordinal := range f.ordinals {
		pod := f.member(ordinal)
		if pod != nil && pod.DeletionTimestamp == nil && f.mountsOtherwise(pod, ordinal) && (!f.followsTemplates() || !f.rolls(ordinal)) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// cannotStart reports whether a pod has an image that does not start, no node, or a claim that no
// template makes and that is gone or about to go.
func (s *stage) cannotStart(pod *corev1.Pod) bool {
	return pod.Spec.Containers[0].Image == badImage || pod.Spec.NodeSelector["disk"] == nowhere ||
		!s.canRun(pod) && slices.ContainsFunc(mounts(pod), func(claim string) bool {
			template, _, _ := strings.Cut(claim, "-")
			return !slices.ContainsFunc(s.set.Spec.VolumeClaimTemplates, func(c corev1.PersistentVolumeClaim) bool { return c.Name == template })
		})
}
