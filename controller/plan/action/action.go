// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package action defines the actions of a plan: what the controller may do in the host cluster, the
// exact objects that the actions are about, and the chains in which they are carried out. The
// planner decides on actions, the executor carries them out, and forecasts and previews show them.
package action

import (
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// Action is one thing to do in the host cluster. The set of actions is closed, and every
// switch over them lists all of them, which the linter checks.
//
//sumtype:decl
type Action interface {
	// String describes the action in one line.
	String() string
	action()
}

// Target is the exact object that an action was decided on. The executor sends
// the UID and the resource version as preconditions, so that an action never
// hits another object of the same name or one that has changed since.
type Target struct {
	Name            string
	UID             types.UID
	ResourceVersion string
}

// Exact is the target for an object in the version that was read.
func Exact(object metav1.Object) Target {
	return Target{Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion()}
}

// Chain is a list of actions. Each depends on the one before: it is carried out after that one has
// succeeded, and not at all if the cluster refused that one.
type Chain []Action

// Step is a list of actions that may start at the same time.
type Step []Action

// AsksBudgets reports whether the executor asks the cluster, before an action, whether it would
// evict the pod.
func AsksBudgets(action Action) bool {
	switch a := action.(type) {
	case UpdateInPlace:
		return a.AsBudgetsAllow
	case ResizePod:
		return a.AsBudgetsAllow
	case SetPodConditions:
		return a.AsBudgetsAllow
	case CreateMember, CreateClaims, SetClaimOwners, UpdateClaim, MarkClaim, DeleteClaim:
	case CreateObject, ApplyObject, MarkObject, DeleteObject, SetObjectOwners, CreateAnchor, OwnAnchor:
	case RepairPod, PatchPod, DeletePod, EndInPlace, AdoptPod, ReleasePod:
	case CreateRevision, RaiseRevision, AdoptRevision, DeleteRevision:
	}
	return false
}

// CreateMember creates the claims that the member lacks, and when all of them
// exist, its pod.
type CreateMember struct {
	Ordinal int
	Claims  []*corev1.PersistentVolumeClaim
	Pod     *corev1.Pod
	// Override names the override with which the pod is created, empty if there is none.
	Override string
}

// CreateClaims creates the claims for which an existing pod waits.
type CreateClaims struct {
	Ordinal int
	Claims  []*corev1.PersistentVolumeClaim
}

// SetClaimOwners replaces the owner references of a claim.
type SetClaimOwners struct {
	Ordinal int
	Claim   Target
	Owners  []metav1.OwnerReference
	// Exposed names an owner with which the claim would be deleted although the policy keeps the
	// claim. It is empty if there is none.
	Exposed string
}

// UpdateClaim grows a claim, or sets the attributes class, the labels or the annotations of its
// template. Empty fields change nothing.
type UpdateClaim struct {
	Ordinal int
	Claim   Target
	// From is the size that the claim requests now. Size is the size to request instead, nil if the
	// size does not change.
	From resource.Quantity
	Size *resource.Quantity
	// AttributesClass is the volumeAttributesClassName to set.
	AttributesClass string
	// Labels and Annotations are added to those of the claim.
	Labels, Annotations map[string]string
}

// RepairPod restores the labels that identify a pod as the member that its name says.
type RepairPod struct {
	Ordinal int
	Pod     Target
	Labels  map[string]string
}

// DeletePod removes a pod gracefully.
type DeletePod struct {
	Ordinal int
	Pod     Target
	Reason  DeleteReason
	// Evict requests an eviction, which a PodDisruptionBudget may refuse.
	Evict bool
	// Override names the override for which the pod is removed. It is empty if the pod is
	// removed for another reason, or because its member no longer has an override.
	Override string
	// Turn says why it is the member's turn in the order of the update. It is empty if the ordinal
	// is the only reason.
	Turn string
}

// DeleteReason says why a pod is removed.
type DeleteReason string

// The reasons to remove a pod.
const (
	DeleteForScaleDown DeleteReason = "scale down"
	DeleteForUpdate    DeleteReason = "update"
	DeleteForRollback  DeleteReason = "rollback"
	DeleteFinished     DeleteReason = "finished" // the pod has failed or succeeded
	DeleteUnready      DeleteReason = "unready"  // it blocks an update
	DeleteForClaims    DeleteReason = "claims"   // it was created with other claim templates
	DeleteForOverride  DeleteReason = "override" // it was created with another override, or with none
	DeleteOnRequest    DeleteReason = "replace"  // a user requested the replacement
	DeleteUnrestarted  DeleteReason = "restart"  // its containers should have been restarted in place, but are not
	DeleteUnresized    DeleteReason = "resize"   // its containers should have been resized in place, but are not
)

// AdoptPod makes the set the controller of a pod that has none.
type AdoptPod struct {
	Ordinal int
	Pod     Target
}

// ReleasePod gives up a pod that no longer matches the set.
type ReleasePod struct {
	Pod Target
}

// CreateRevision records the set's template.
type CreateRevision struct {
	Revision *appsv1.ControllerRevision
}

// RaiseRevision makes an earlier revision the latest again, after a rollback.
type RaiseRevision struct {
	Revision Target
	To       int64
}

// AdoptRevision makes the set the controller of a revision that has none.
type AdoptRevision struct {
	Revision Target
}

// DeleteRevision removes a revision that nothing needs any more.
type DeleteRevision struct {
	Revision Target
}

func (a CreateMember) String() string {
	pod := "pod " + a.Pod.Name + " at " + a.Pod.Labels[identity.RevisionLabel]
	if a.Override != "" {
		pod += " with override " + a.Override
	}
	return "create " + join(claimNames(a.Claims), pod)
}

func (a CreateClaims) String() string { return "create " + join(claimNames(a.Claims)) }

func (a SetClaimOwners) String() string {
	var owners []string
	for _, owner := range a.Owners[:min(len(a.Owners), words.FewNames)] {
		owners = append(owners, words.Sanitize(owner.Kind)+"/"+words.Sanitize(owner.Name))
	}
	if more := len(a.Owners) - words.FewNames; more > 0 {
		owners = append(owners, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("set owners of claim %s to [%s]", a.Claim.Name, strings.Join(owners, " "))
}

func (a UpdateClaim) String() string {
	var parts []string
	if a.Size != nil {
		parts = append(parts, fmt.Sprintf("grow claim %s from %s to %s", a.Claim.Name, a.From.String(), a.Size.String()))
	}
	if a.AttributesClass != "" {
		parts = append(parts, fmt.Sprintf("set volumeAttributesClassName of claim %s to %s", a.Claim.Name, a.AttributesClass))
	}
	if len(a.Labels)+len(a.Annotations) > 0 {
		parts = append(parts, "add labels and annotations to claim "+a.Claim.Name)
	}
	return strings.Join(parts, ", ")
}

func (a RepairPod) String() string { return "repair labels of pod " + a.Pod.Name }

func (a DeletePod) String() string {
	verb := "delete"
	if a.Evict {
		verb = "evict"
	}
	return fmt.Sprintf("%s pod %s (%s)", verb, a.Pod.Name, a.Why())
}

// Why says in a few words why the pod is removed.
func (a DeletePod) Why() string { return strings.TrimSpace(string(a.Reason) + " " + a.Override) }

func (a AdoptPod) String() string { return "adopt pod " + a.Pod.Name }

func (a ReleasePod) String() string { return "release pod " + a.Pod.Name }

func (a CreateRevision) String() string {
	return fmt.Sprintf("create revision %s (%d)", a.Revision.Name, a.Revision.Revision)
}

func (a RaiseRevision) String() string {
	return fmt.Sprintf("raise revision %s to %d", a.Revision.Name, a.To)
}

func (a AdoptRevision) String() string { return "adopt revision " + a.Revision.Name }

func (a DeleteRevision) String() string { return "delete revision " + a.Revision.Name }

func (CreateMember) action()   {}
func (CreateClaims) action()   {}
func (SetClaimOwners) action() {}
func (UpdateClaim) action()    {}
func (RepairPod) action()      {}
func (DeletePod) action()      {}
func (AdoptPod) action()       {}
func (ReleasePod) action()     {}
func (CreateRevision) action() {}
func (RaiseRevision) action()  {}
func (AdoptRevision) action()  {}
func (DeleteRevision) action() {}

func claimNames(claims []*corev1.PersistentVolumeClaim) []string {
	names := make([]string, 0, len(claims))
	for _, claim := range claims {
		names = append(names, "claim "+claim.Name)
	}
	return names
}

func join(parts []string, more ...string) string {
	return strings.Join(append(parts, more...), ", ")
}

// ifBudgetsAllow is the part of an action's text about disruption budgets.
func ifBudgetsAllow(asks bool) string {
	if asks {
		return " as budgets allow"
	}
	return ""
}

// Apply changes a claim as the action says.
func (a UpdateClaim) Apply(claim *corev1.PersistentVolumeClaim) {
	if a.Size != nil {
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: *a.Size}
	}
	if a.AttributesClass != "" {
		claim.Spec.VolumeAttributesClassName = &a.AttributesClass
	}
	claim.Labels, claim.Annotations = Merged(claim.Labels, a.Labels), Merged(claim.Annotations, a.Annotations)
}

// Merged is a copy of values with more on top.
func Merged(values, more map[string]string) map[string]string {
	all := make(map[string]string, len(values)+len(more))
	maps.Copy(all, values)
	maps.Copy(all, more)
	return all
}
