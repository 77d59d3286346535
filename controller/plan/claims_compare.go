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

// claimState is how a claim stands to its template.
type claimState struct {
	claim *corev1.PersistentVolumeClaim
	// wanted is the size that the template describes.
	wanted resource.Quantity

	// size, class, labels and annotations are what the claim has to be told, empty if it
	// has been: the size only if it asks for less.
	size                *resource.Quantity
	class               string
	labels, annotations map[string]string

	// grows and attributes are what it has been told and is not yet: larger, or of the
	// attributes of a class. restart is true if only the node's part lacks.
	grows, restart bool
	attributes     string
	// infeasible is why it cannot become so, empty if it can. spends is true if the volume is being
	// changed, and may be changed for the worse: a volume whose change the driver has refused is as
	// it was.
	infeasible string
	spends     bool
	// differs is how it differs in what cannot be changed, empty if it does not.
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
	if IsInfeasible(status) {
		s.infeasible = fmt.Sprintf("%s to %s%s", status, s.wanted.String(), resizeError(s.claim))
	}
	s.restart = status == corev1.PersistentVolumeClaimNodeResizePending ||
		slices.ContainsFunc(s.claim.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
			return c.Type == corev1.PersistentVolumeClaimFileSystemResizePending && c.Status == corev1.ConditionTrue
		})
	s.spends = !s.restart && status != corev1.PersistentVolumeClaimControllerResizeInfeasible
}

// IsInfeasible reports whether the host has given up making a claim larger.
func IsInfeasible(status corev1.ClaimResourceStatus) bool {
	return status == corev1.PersistentVolumeClaimControllerResizeInfeasible || status == corev1.PersistentVolumeClaimNodeResizeInfeasible
}

// resizeError is what the host says of a claim that it cannot make larger.
func resizeError(claim *corev1.PersistentVolumeClaim) string {
	for _, c := range claim.Status.Conditions {
		if c.Status == corev1.ConditionTrue && c.Message != "" &&
			(c.Type == corev1.PersistentVolumeClaimControllerResizeError || c.Type == corev1.PersistentVolumeClaimNodeResizeError) {
			return ": " + words.ForeignText(steady(c.Message))
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
		s.infeasible = "attributes of class " + words.Foreign(class) + " are infeasible"
	}
}

// lackingAnnotations are those that the claim does not have as its template. Those with reserved keys
// are the controller's records of the claim: a template cannot ask for them.
func lackingAnnotations(template, claim map[string]string) map[string]string {
	lacking := lackingKeys(template, claim)
	maps.DeleteFunc(lacking, func(key, _ string) bool { return identity.IsReserved(key) })
	return lacking
}

// lackingKeys are those that the claim does not have as its template. What else the claim
// has stays, as does what the template had once.
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

// immutableDifference names a field that nobody can change and in which the claim is
// otherwise than its template describes. What the volume was filled from says nothing
// about a claim that has one.
func immutableDifference(template, claim *corev1.PersistentVolumeClaimSpec) string {
	differ := func(field, is, wanted string) string {
		return fmt.Sprintf("%s is %q, and %q in its template", field, words.Foreign(is), wanted)
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

// lacksWork reports whether the claim has to be told something for which the volume changes,
// lacks whether it has to be told anything.
func (s claimState) lacksWork() bool { return s.size != nil || s.class != "" }

func (s claimState) lacks() bool {
	return s.lacksWork() || len(s.labels)+len(s.annotations) > 0
}

// standing says how far the claim has come, empty if it is as it is to be.
func (s claimState) standing() string {
	name := s.claim.Name
	switch {
	case s.restart:
		return fmt.Sprintf(
			"claim %s has grown to %s but for its file system, which its node resizes; some volumes need the pod to be recreated for that", name,
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

// lacking says what a claim that is not changed has otherwise than its template.
func (s claimState) lacking() string {
	switch request := s.claim.Spec.Resources.Requests[corev1.ResourceStorage]; {
	case s.size != nil:
		return fmt.Sprintf("requests %s, and its template %s", request.String(), s.wanted.String())
	case s.class != "":
		return fmt.Sprintf("volumeAttributesClassName is %q, and %q in its template",
			words.Foreign(ptr.Deref(s.claim.Spec.VolumeAttributesClassName, "")), s.class)
	default:
		return "lacks labels or annotations of its template"
	}
}

// due is what is to be written to the claim, and false if nothing is. Labels and annotations
// cost nothing; the rest may wait.
func (s claimState) due(work bool) (action.UpdateClaim, bool) {
	change := action.UpdateClaim{Claim: action.Exact(s.claim), Labels: s.labels, Annotations: s.annotations}
	if work {
		change.From, change.Size, change.AttributesClass = s.claim.Spec.Resources.Requests[corev1.ResourceStorage], s.size, s.class
	}
	return change, change.Size != nil || change.AttributesClass != "" || len(change.Labels)+len(change.Annotations) > 0
}

// undo is the patch that makes the claim ask for what it has, or for the least that the host accepts.
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

// littleMore is the next whole MiB above a size. The host lets a request be lowered, but not to what the
// claim has already.
func littleMore(size resource.Quantity) *resource.Quantity {
	const step = 1 << 20
	return resource.NewQuantity((size.Value()/step+1)*step, resource.BinarySI)
}
