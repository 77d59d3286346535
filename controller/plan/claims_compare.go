// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// claimState is the state of a claim compared with its template.
type claimState struct {
	claim *corev1.PersistentVolumeClaim
	// wanted is the size in the template.
	wanted resource.Quantity

	// size, class, labels and annotations are what has to be written to the claim, empty if nothing
	// has to. size is set only if the claim requests less.
	size                *resource.Quantity
	class               string
	labels, annotations map[string]string

	// grows and attributes are what the claim requests but does not have yet: more size, or the
	// attributes of a class. restart is true if only the part of the node is missing.
	grows, restart bool
	attributes     string
	// infeasible is why the change is not possible, empty if it is. spends is true if the volume is
	// being changed, which may go wrong: a volume whose change the driver has refused is unchanged.
	infeasible string
	spends     bool
	// differs describes the difference in a field that cannot be changed, empty if there is none.
	differs string
}

// compareClaim compares a claim with its template.
func compareClaim(template, claim *corev1.PersistentVolumeClaim) claimState {
	s := claimState{claim: claim, wanted: template.Spec.Resources.Requests[corev1.ResourceStorage],
		labels: lackingKeys(template.Labels, claim.Labels), annotations: lackingAnnotations(template.Annotations, claim.Annotations)}
	s.compareSize()
	s.compareAttributes(ptr.Deref(template.Spec.VolumeAttributesClassName, ""))
	s.differs = immutableDifference(&template.Spec, &claim.Spec)
	return s
}

func (s *claimState) compareSize() {
	if request := s.claim.Spec.Resources.Requests[corev1.ResourceStorage]; request.Cmp(s.wanted) < 0 {
		s.size = &s.wanted
		return
	}
	capacity, known := s.claim.Status.Capacity[corev1.ResourceStorage]
	if !known || capacity.Cmp(s.wanted) >= 0 {
		return
	}
	s.grows = true
	status := s.claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]
	if IsGrowthInfeasible(status) {
		s.infeasible = fmt.Sprintf("%s to %s%s", status, s.wanted.String(), resizeError(s.claim))
	}
	s.restart = status == corev1.PersistentVolumeClaimNodeResizePending ||
		slices.ContainsFunc(s.claim.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
			return c.Type == corev1.PersistentVolumeClaimFileSystemResizePending && c.Status == corev1.ConditionTrue
		})
	s.spends = !s.restart && status != corev1.PersistentVolumeClaimControllerResizeInfeasible
}

// IsGrowthInfeasible reports whether the cluster has given up growing a claim.
func IsGrowthInfeasible(status corev1.ClaimResourceStatus) bool {
	return status == corev1.PersistentVolumeClaimControllerResizeInfeasible || status == corev1.PersistentVolumeClaimNodeResizeInfeasible
}

// resizeError is the reason that the cluster reports for not growing a claim.
func resizeError(claim *corev1.PersistentVolumeClaim) string {
	for _, c := range claim.Status.Conditions {
		if c.Status == corev1.ConditionTrue && c.Message != "" &&
			(c.Type == corev1.PersistentVolumeClaimControllerResizeError || c.Type == corev1.PersistentVolumeClaimNodeResizeError) {
			return ": " + words.SanitizeText(steady(c.Message))
		}
	}
	return ""
}

func (s *claimState) compareAttributes(class string) {
	if class == "" {
		return
	}
	if ptr.Deref(s.claim.Spec.VolumeAttributesClassName, "") != class {
		s.class = class
		return
	}
	if s.claim.Status.Phase != corev1.ClaimBound || ptr.Deref(s.claim.Status.CurrentVolumeAttributesClassName, "") == class {
		return
	}
	s.attributes = class
	modify := s.claim.Status.ModifyVolumeStatus
	refused := modify != nil && modify.Status == corev1.PersistentVolumeClaimModifyVolumeInfeasible
	s.spends = s.spends || !refused
	if refused && s.infeasible == "" {
		s.infeasible = "attributes of class " + words.Sanitize(class) + " are infeasible"
	}
}

// lackingAnnotations are the annotations that the claim does not have as its template describes.
// Annotations with reserved keys are the controller's records about the claim: a template cannot
// request them.
func lackingAnnotations(template, claim map[string]string) map[string]string {
	lacking := lackingKeys(template, claim)
	maps.DeleteFunc(lacking, func(key, _ string) bool { return identity.IsReserved(key) })
	return lacking
}

// lackingKeys are the entries of the template that the claim lacks, or has with another value.
// Other entries of the claim stay, even if an earlier template had them.
func lackingKeys(template, claim map[string]string) map[string]string {
	var lacking map[string]string
	for key, value := range template {
		if has, ok := claim[key]; ok && has == value {
			continue
		}
		if lacking == nil {
			lacking = map[string]string{}
		}
		lacking[key] = value
	}
	return lacking
}

// immutableDifference describes the first immutable field in which the claim differs from its
// template. The data source is not compared: it no longer matters for a claim that has a volume.
func immutableDifference(template, claim *corev1.PersistentVolumeClaimSpec) string {
	differ := func(field, is, wanted string) string {
		return fmt.Sprintf("%s is %q, but %q in its template", field, words.Sanitize(is), wanted)
	}
	if class := template.StorageClassName; class != nil && claim.StorageClassName != nil && *class != *claim.StorageClassName {
		return differ("storageClassName", *claim.StorageClassName, *class)
	}
	mode := func(spec *corev1.PersistentVolumeClaimSpec) string {
		return string(ptr.Deref(spec.VolumeMode, corev1.PersistentVolumeFilesystem))
	}
	if mode(template) != mode(claim) {
		return differ("volumeMode", mode(claim), mode(template))
	}
	modes := func(spec *corev1.PersistentVolumeClaimSpec) string {
		return fmt.Sprint(slices.Compact(slices.Sorted(slices.Values(spec.AccessModes))))
	}
	if modes(template) != modes(claim) {
		return differ("accessModes", modes(claim), modes(template))
	}
	return ""
}

// lacksWork reports whether something has to be written to the claim that changes the volume. lacks
// reports whether anything has to be written to it.
func (s claimState) lacksWork() bool { return s.size != nil || s.class != "" }

func (s claimState) lacks() bool {
	return s.lacksWork() || len(s.labels)+len(s.annotations) > 0
}

// progressText describes how far the claim has come, empty if it matches its template.
func (s claimState) progressText() string {
	name := s.claim.Name
	switch {
	case s.restart:
		return fmt.Sprintf(
			"claim %s has grown to %s, except for its file system, which the node resizes; some volumes need the pod to be recreated for that", name,
			s.wanted.String())
	case s.size != nil || s.grows:
		return fmt.Sprintf("claim %s grows to %s", name, s.wanted.String())
	case s.class != "" || s.attributes != "":
		return fmt.Sprintf("claim %s gets the attributes of class %s", name, cmp.Or(s.class, s.attributes))
	case s.lacks():
		return fmt.Sprintf("claim %s gets the labels and annotations of its template", name)
	default:
		return ""
	}
}

// lacking describes how a claim that is not changed differs from its template.
func (s claimState) lacking() string {
	switch request := s.claim.Spec.Resources.Requests[corev1.ResourceStorage]; {
	case s.size != nil:
		return fmt.Sprintf("requests %s, but its template requests %s", request.String(), s.wanted.String())
	case s.class != "":
		return fmt.Sprintf("volumeAttributesClassName is %q, but %q in its template",
			words.Sanitize(ptr.Deref(s.claim.Spec.VolumeAttributesClassName, "")), s.class)
	default:
		return "lacks labels or annotations of its template"
	}
}

// due is the change to write to the claim, and false if there is none. Labels and annotations cost
// nothing; the rest may have to wait.
func (s claimState) due(work bool) (action.UpdateClaim, bool) {
	change := action.UpdateClaim{Claim: action.Exact(s.claim), Labels: s.labels, Annotations: s.annotations}
	if work {
		change.From, change.Size, change.AttributesClass = s.claim.Spec.Resources.Requests[corev1.ResourceStorage], s.size, s.class
	}
	return change, change.Size != nil || change.AttributesClass != "" || len(change.Labels)+len(change.Annotations) > 0
}

// undo is the patch that makes the claim request what it already has, or the smallest size that the
// cluster accepts.
func (s claimState) undo() string {
	spec := map[string]any{}
	if capacity, known := s.claim.Status.Capacity[corev1.ResourceStorage]; known && s.grows {
		spec["resources"] = map[string]any{"requests": map[string]string{"storage": littleMore(capacity).String()}}
	}
	if s.attributes != "" {
		spec["volumeAttributesClassName"] = ptr.Deref(s.claim.Status.CurrentVolumeAttributesClassName, "")
	}
	patch, _ := json.Marshal(map[string]any{"spec": spec})
	return string(patch)
}

// littleMore is the next whole MiB above a size. The cluster allows a request to be lowered, but
// not to the size that the claim already has.
func littleMore(size resource.Quantity) *resource.Quantity {
	const step = 1 << 20
	return resource.NewQuantity((size.Value()/step+1)*step, resource.BinarySI)
}
