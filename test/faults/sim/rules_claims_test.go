// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

func claimName(template string, ordinal int) string {
	return fmt.Sprintf("%s-%s-%d", template, scenarios.Name, ordinal)
}

func createsWithClaims(_ *judge, i *intent, s scene) string {
	pod := createdPod(i)
	if pod == nil || s.set == nil {
		return ""
	}
	for _, template := range s.set.Spec.VolumeClaimTemplates {
		name := claimName(template.Name, ordinalOf(pod.Name))
		claim := s.claims[name]
		switch {
		case claim == nil:
			return fmt.Sprintf("there is no claim %s", name)
		case claim.DeletionTimestamp != nil:
			return fmt.Sprintf("claim %s is terminating", name)
		case claim.Annotations[v1.RetiredAtAnnotation] != "":
			return fmt.Sprintf("claim %s is to be deleted", name)
		case !mounts(pod, template.Name, name):
			return fmt.Sprintf("the pod does not mount claim %s", name)
		}
		for _, owner := range claim.OwnerReferences {
			if owner.Kind == v1.Kind && owner.UID != s.set.UID ||
				owner.Kind == "Pod" && (s.pods[owner.Name] == nil || s.pods[owner.Name].UID != owner.UID) {
				return fmt.Sprintf("claim %s goes with its owner %s %s, which is gone", name, owner.Kind, owner.UID)
			}
		}
	}
	return ""
}

func mounts(pod *corev1.Pod, volume, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == volume && v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// deletesDueClaims: the set asks for it, does not want the member, which has no pod, and the
// claim tells since when all this is so, which was long enough ago by the time in the cluster.
func deletesDueClaims(j *judge, i *intent, s scene) string {
	if i.Resource != model.Claims || i.Verb != "delete" || i.target == nil {
		return ""
	}
	ordinal := ordinalOf(i.Name)
	_, err := time.Parse(time.RFC3339, i.target.GetAnnotations()[v1.RetiredAtAnnotation])
	switch {
	case s.set == nil || !isDelayed(s.set):
		return "the set does not ask for it"
	case isWanted(s.set, ordinal):
		return fmt.Sprintf("the set wants member %d", ordinal)
	case s.pods[fmt.Sprintf("%s-%d", scenarios.Name, ordinal)] != nil:
		return fmt.Sprintf("member %d has a pod", ordinal)
	case err != nil || i.target.GetAnnotations()[v1.OwnerAnnotation] != scenarios.Name+"/"+string(s.set.UID):
		return fmt.Sprintf("its annotations are %v", i.target.GetAnnotations())
	}
	return j.staysFor(time.Duration(*s.set.Spec.PersistentVolumeClaimRetentionPolicy.ScaledAfterSeconds)*time.Second, i.target)
}

// isDelayed reports whether claims of removed members are deleted some time later.
func isDelayed(set *v1.StatefulSet) bool {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	return policy != nil && policy.ScaledAfterSeconds != nil
}

func deletesWith(set *v1.StatefulSet) (whenDeleted, whenScaled bool) {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil {
		return false, false
	}
	return policy.WhenDeleted == v1.DeletePersistentVolumeClaimRetentionPolicyType,
		policy.WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType
}

func ownsAsPolicySays(_ *judge, i *intent, s scene) string {
	if i.Resource != model.Claims || s.set == nil {
		return ""
	}
	var owners []metav1.OwnerReference
	if i.Verb == "create" {
		owners = i.object.GetOwnerReferences()
	}
	for _, owner := range i.patch.Metadata.OwnerReferences {
		owners = append(owners, owner.OwnerReference)
	}
	name := i.Name
	if i.object != nil {
		name = i.object.GetName()
	}
	whenDeleted, whenScaled := deletesWith(s.set)
	ofSet := false
	for _, owner := range owners {
		pod := s.pods[owner.Name]
		switch {
		case owner.Kind == v1.Kind && owner.UID == s.set.UID && whenDeleted:
			ofSet = true
		case owner.Kind == "Pod" && whenScaled && !isDelayed(s.set) && pod != nil && pod.UID == owner.UID && !isWanted(s.set, ordinalOf(name)):
		default:
			return fmt.Sprintf("the claim gets the owner %s %s", owner.Kind, owner.Name)
		}
	}
	if i.Verb == "create" && whenDeleted && !ofSet {
		return "the claim does not get the set as owner"
	}
	return ""
}

// claimGoes judges that a claim is going, whoever told it: with it goes the data.
func (j *judge) claimGoes(claim *corev1.PersistentVolumeClaim) {
	if j.given[claim.Name] {
		return
	}
	if pod := fmt.Sprintf("%s-%d", scenarios.Name, ordinalOf(claim.Name)); len(claim.OwnerReferences) == 0 &&
		j.world.present().pods[pod] != nil {
		j.broke("no claim is deleted under a pod", "claim %s goes, and nobody owns it, while pod %s is there", claim.Name, pod)
	}
	for _, set := range j.sets {
		whenDeleted, whenScaled := deletesWith(set)
		if whenDeleted && set.DeletionTimestamp != nil || whenScaled && !isWanted(set, ordinalOf(claim.Name)) {
			return
		}
	}
	j.broke("no claim goes that the retention policy keeps", "claim %s goes, with the owners %+v", claim.Name, claim.OwnerReferences)
}

// claimsGone judges, at the end, that no claim is left that should have gone with
// its member.
func (j *judge) claimsGone() {
	s := j.world.present()
	if s.set == nil {
		return
	}
	_, whenScaled := deletesWith(s.set)
	for name := range s.claims {
		if whenScaled && !isWanted(s.set, ordinalOf(name)) {
			j.broke("no claim is left that the retention policy gives away", "claim %s is left", name)
		}
	}
}
