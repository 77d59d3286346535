// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// followsTemplates reports whether the set asks for its members to follow changed claim
// templates.
func (f evidence) followsTemplates() bool { return f.Set.Spec.VolumeClaimUpdate != nil }

func (f evidence) growsInPlace() bool {
	return f.followsTemplates() && f.Set.Spec.VolumeClaimUpdate.Policy == v1.InPlaceVolumeClaimUpdatePolicyType
}

// rolls reports whether an update recreates a wanted member by itself.
func (f evidence) rolls(ordinal int) bool {
	switch f.strategy() {
	case v1.OnDeleteStatefulSetStrategyType:
		return false
	case v1.RecreateStatefulSetStrategyType:
		return true
	default:
		return f.isAbovePartition(ordinal)
	}
}

// mountsOtherwise reports whether a pod mounts other claims than those of the templates.
func (f evidence) mountsOtherwise(pod *corev1.Pod, ordinal int) bool {
	var wanted []string
	for _, template := range f.Set.Spec.VolumeClaimTemplates {
		wanted = append(wanted, f.claimName(template.Name, ordinal))
	}
	got := mounts(pod)
	slices.Sort(got)
	slices.Sort(wanted)
	return !slices.Equal(got, wanted)
}

// isMisshapen reports whether a wanted member is to be recreated because of what it mounts, or
// because of its override.
func (f evidence) isMisshapen(ordinal int) bool {
	return f.isMountingOtherwise(ordinal) || f.isOverridden(ordinal)
}

// free reports whether a claim may be changed for the set: it is bound, stays, and is
// nobody else's.
func (f evidence) free(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil &&
		!slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
			return f.former(ref) || ref.Controller != nil && *ref.Controller && !f.ours(ref)
		})
}

// lag is what a claim has yet to be told, and whether it has been told to grow and has not.
func lag(template, claim *corev1.PersistentVolumeClaim) (untold []string, under bool) {
	want, asked, has := template.Spec.Resources.Requests.Storage(), claim.Spec.Resources.Requests.Storage(), claim.Status.Capacity.Storage()
	switch {
	case asked.Cmp(*want) < 0:
		untold = append(untold, "size")
	case !has.IsZero() && has.Cmp(*want) < 0:
		pending := slices.ContainsFunc(claim.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
			return c.Type == corev1.PersistentVolumeClaimFileSystemResizePending
		})
		under = !pending
	}
	if class := template.Spec.VolumeAttributesClassName; class != nil {
		if claim.Spec.VolumeAttributesClassName == nil || *claim.Spec.VolumeAttributesClassName != *class {
			untold = append(untold, "class")
		} else if now := claim.Status.CurrentVolumeAttributesClassName; claim.Status.Phase == corev1.ClaimBound &&
			(now == nil || *now != *class) {
			under = true
		}
	}
	for key, value := range template.Labels {
		if claim.Labels[key] != value {
			untold = append(untold, "label "+key)
		}
	}
	for key, value := range template.Annotations {
		if claim.Annotations[key] != value && !isRecord(key) {
			untold = append(untold, "annotation "+key)
		}
	}
	return untold, under
}

// isRecord reports whether an annotation is for the controller to write, whatever a template says.
func isRecord(key string) bool { return strings.HasPrefix(key, "apps.statefulset.dev/") }

// eachClaim visits the claims of wanted members that exist.
func (f evidence) eachClaim(visit func(ordinal int, template, claim *corev1.PersistentVolumeClaim)) {
	for _, ordinal := range f.ordinals {
		for i := range f.Set.Spec.VolumeClaimTemplates {
			template := f.claimTemplate(i, ordinal)
			if claim := f.claims[f.claimName(template.Name, ordinal)]; claim != nil {
				visit(ordinal, template, claim)
			}
		}
	}
}

// growth: claims are changed only where the set asks for it, and only towards their
// templates; none is made smaller; and no more members than may be unavailable have claims
// that are being grown because of us, where a volume that the driver does not grow does not count.
func (j *judged) growth() {
	changes := map[string]action.UpdateClaim{}
	for _, act := range planned[action.UpdateClaim](j) {
		changes[act.Claim.Name] = act
	}
	if len(changes) > 0 && !j.growsInPlace() {
		j.broke("growth not asked for", "%v", changes)
		return
	}
	under, begun := map[int]bool{}, map[int]bool{}
	j.eachClaim(func(ordinal int, template, claim *corev1.PersistentVolumeClaim) {
		untold, works := lag(template, claim)
		act, changed := changes[claim.Name]
		delete(changes, claim.Name)
		if works && j.free(claim) &&
			claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage] != corev1.PersistentVolumeClaimControllerResizeInfeasible {
			under[ordinal] = true
		}
		if !changed {
			return
		}
		switch {
		case !j.free(claim):
			j.broke("claim of others", "%s, which is %s, owned by %v, deleted at %v", act, claim.Status.Phase, claim.OwnerReferences,
				claim.DeletionTimestamp)
		case len(untold) == 0:
			j.broke("idle growth", "%s, which is as its template", act)
		}
		for key := range act.Annotations {
			if isRecord(key) {
				j.broke("record of a template", "%s gets %s", act, key)
			}
		}
		if act.Size != nil {
			begun[ordinal] = true
			if asked := claim.Spec.Resources.Requests.Storage(); act.Size.Cmp(*asked) <= 0 ||
				act.Size.Cmp(*template.Spec.Resources.Requests.Storage()) != 0 {
				j.broke("request falls", "%s, which asks for %s", act, asked)
			}
		}
		if act.AttributesClass != "" {
			begun[ordinal] = true
		}
	})
	for name := range changes {
		j.broke("claim of others", "claim %s is of no wanted member and changed", name)
	}
	for ordinal := range begun {
		delete(under, ordinal)
	}
	if len(begun) > 0 && len(begun)+len(under) > j.maxUnavailable() {
		j.broke("growth budget", "claims of members %v grow, of %v are told to, and %d may at a time", under, begun, j.maxUnavailable())
	}
}

// shape: a pod says with which templates it was made if the set follows them, has a volume
// for all that it mounts, and is taken away for its shape only if that is another one; and
// nobody who serves is updated whose claims have yet to be told to change.
func (j *judged) shape() {
	for _, act := range planned[action.CreateMember](j) {
		names := []string{}
		for _, template := range j.Set.Spec.VolumeClaimTemplates {
			names = append(names, template.Name)
		}
		slices.Sort(names)
		if noted, want := act.Pod.Annotations[v1.ClaimTemplatesAnnotation], strings.Join(names, ","); j.followsTemplates() && noted != want ||
			!j.followsTemplates() && noted != "" {
			j.broke("noted templates", "pod %s is created with the note %q, want %q", act.Pod.Name, noted, want)
		}
		for _, mount := range act.Pod.Spec.Containers[0].VolumeMounts {
			if j.followsTemplates() &&
				!slices.ContainsFunc(act.Pod.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == mount.Name }) {
				j.broke("volume", "pod %s is created and mounts %s, which it does not have", act.Pod.Name, mount.Name)
			}
		}
	}
	for _, act := range planned[action.DeletePod](j) {
		if !forUpdate(act) || !j.growsInPlace() || j.strategy() == v1.RecreateStatefulSetStrategyType {
			continue
		}
		if _, broken := unreadySince(j.pods[act.Pod.Name]); broken {
			continue
		}
		if late := j.untold(act.Ordinal); late != "" {
			j.broke("update before growth", "%s, although %s", act, late)
		}
	}
}

// untold names a claim of a member that has yet to be told something.
func (j *judged) untold(ordinal int) (text string) {
	if !j.growsInPlace() {
		return ""
	}
	j.eachClaim(func(of int, template, claim *corev1.PersistentVolumeClaim) {
		if untold, _ := lag(template, claim); of == ordinal && j.free(claim) && len(untold) > 0 {
			text = fmt.Sprintf("claim %s lacks %v", claim.Name, untold)
		}
	})
	return text
}

// growthTold: the status counts the claims by template as they are.
func (j *judged) growthTold() {
	got := j.plan.Status.VolumeClaims
	if !j.followsTemplates() {
		if len(got) > 0 {
			j.broke("claims told", "the status tells %+v of a set that does not ask for it", got)
		}
		return
	}
	want := map[string]*v1.VolumeClaimStatus{}
	for _, template := range j.Set.Spec.VolumeClaimTemplates {
		want[template.Name] = &v1.VolumeClaimStatus{Name: template.Name}
	}
	j.eachClaim(func(ordinal int, template, claim *corev1.PersistentVolumeClaim) {
		status := want[template.Name]
		status.Claims++
		untold, under := lag(template, claim)
		grown := !under &&
			(claim.Status.Capacity.Storage().IsZero() || claim.Status.Capacity.Storage().Cmp(*template.Spec.Resources.Requests.Storage()) >= 0)
		if len(untold) == 0 && grown {
			status.UpToDate++
		}
	})
	for _, status := range got {
		if w := want[status.Name]; w == nil || w.Claims != status.Claims || w.UpToDate != status.UpToDate {
			j.broke("claims told", "the status says %+v, want %+v", status, w)
		}
		delete(want, status.Name)
	}
	if len(want) > 0 {
		j.broke("claims told", "the status does not tell of %v", want)
	}
}
