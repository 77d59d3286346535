// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// claimsKind selects all claims, because the claims of members have no common label. The name of a
// claim says which member it belongs to, and the retention policy decides who owns it. The
// controller deletes a claim only if the set requests it, and has no permission to get one.
func claimsKind(host kubernetes.Interface) kind {
	claims := newEndpoint[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList](host.CoreV1().PersistentVolumeClaims)
	claims.read = claims.readByList
	return kind{
		resource: claimsResource,
		noun:     "claim",
		newInformer: func() cache.SharedIndexInformer {
			return coreinformers.NewFilteredPersistentVolumeClaimInformer(host, metav1.NamespaceAll, 0, cache.Indexers{}, hostread.RequireQuorumList)
		},
		page: podsInAPage,
		trim: trimmed(trimClaim),
		indexes: cache.Indexers{
			byClaimBase: hostread.IndexBy(func(claim *corev1.PersistentVolumeClaim) []string {
				if base, ok := baseOfClaim(claim); ok {
					return []string{hostread.IndexKey(claim, base)}
				}
				return nil
			}),
			byRecordedSecrets: hostread.IndexBy(func(claim *corev1.PersistentVolumeClaim) []string {
				return possibleSetsOf(claim, claim.Annotations)
			}),
			byClaimOwner: hostread.IndexBy(func(claim *corev1.PersistentVolumeClaim) []string {
				if owner := ownerOfClaim(claim); owner != nil {
					return []string{string(owner.UID)}
				}
				return nil
			}),
			byBucket: indexStubs[*usableStub](baseOfClaim),
		},
		concerns: setsOfClaim,
		changed:  differing(claimChanged),
		endpoint: claims,
	}
}

// ownerOfClaim is the reference by which one of our sets, or a pod with the name of its member,
// controls a claim with a name that a member's claim may have; nil if there is none.
func ownerOfClaim(claim metav1.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(claim)
	base, named := baseOfClaim(claim)
	switch {
	case owner == nil || !named:
		return nil
	case owner.Kind == v1.Kind && owner.APIVersion == v1.SchemeGroupVersion.String() && strings.HasSuffix(base, "-"+owner.Name):
		return owner
	case owner.Kind == "Pod" && owner.APIVersion == corev1.SchemeGroupVersion.String() && strings.HasSuffix(claim.GetName(), "-"+owner.Name):
		return owner
	default:
		return nil
	}
}

// setOwning is the one of our sets that controls a claim, directly or through the pod of a member;
// nil if there is none.
func setOwning(v view, claim metav1.Object) *v1.StatefulSet {
	owner := ownerOfClaim(claim)
	if owner == nil {
		return nil
	}
	name := owner.Name
	if owner.Kind == "Pod" {
		name, _, _ = identity.ParsePodName(owner.Name)
	}
	set, known := get[*v1.StatefulSet](v, setsResource, claim.GetNamespace(), name)
	if !known {
		return nil
	}
	return set
}

// setsOfClaim are the sets that have a claim with this name, or may have had one, and the set that
// controls it. There is more than one set if the name can be split into a template and a set in
// several ways.
func setsOfClaim(v view, claim metav1.Object) []*v1.StatefulSet {
	base, ok := baseOfClaim(claim)
	if !ok {
		return nil
	}
	sets := find[*v1.StatefulSet](v, setsResource, byClaimBase, hostread.IndexKey(claim, base))
	for _, key := range possibleSetsOf(claim, claim.GetAnnotations()) {
		namespace, name, _ := strings.Cut(key, "/")
		if set, known := get[*v1.StatefulSet](v, setsResource, namespace, name); known {
			sets = append(sets, set)
		}
	}
	if owning := setOwning(v, claim); owning != nil && !slices.Contains(sets, owning) {
		sets = append(sets, owning)
	}
	return sets
}

// possibleSetsOf are the sets that a claim with generated Secrets may belong to, as
// "<namespace>/<name>". Claim templates that a set no longer has are not known, so the name is
// split at each dash.
func possibleSetsOf(claim metav1.Object, annotations map[string]string) (keys []string) {
	base, named := baseOfClaim(claim)
	if !named || annotations[v1.GeneratedAnnotation] == "" {
		return nil
	}
	for at, letter := range base {
		if letter == '-' && at > 0 && at+1 < len(base) {
			keys = append(keys, hostread.IndexKey(claim, base[at+1:]))
		}
	}
	return keys
}

// baseOfClaim removes the ordinal from the name of a claim. Such a name ends like the name of a
// pod.
func baseOfClaim(claim metav1.Object) (string, bool) {
	base, _, ok := identity.ParsePodName(claim.GetName())
	return base, ok
}

func claimChanged(before, after *corev1.PersistentVolumeClaim) bool {
	return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Status, after.Status) ||
		hostread.MetaChanged(before.ObjectMeta, after.ObjectMeta)
}

// trimClaim keeps only stubs of claims that belong to no existing set, unless they record generated
// Secrets or one of our sets controls them.
func trimClaim(v view, claim *corev1.PersistentVolumeClaim) any {
	base, named := baseOfClaim(claim)
	switch {
	case !named:
		return newStub(claim)
	case !v.has(setsResource, byClaimBase, hostread.IndexKey(claim, base)) && claim.Annotations[v1.GeneratedAnnotation] == "" &&
		ownerOfClaim(claim) == nil:
		return newUsableStub(claim)
	}
	kept := &corev1.PersistentVolumeClaim{
		ObjectMeta: hostread.TrimMeta(&claim.ObjectMeta),
		Spec: corev1.PersistentVolumeClaimSpec{
			Resources:                 corev1.VolumeResourceRequirements{Requests: claim.Spec.Resources.Requests},
			StorageClassName:          claim.Spec.StorageClassName,
			VolumeAttributesClassName: claim.Spec.VolumeAttributesClassName,
			VolumeMode:                claim.Spec.VolumeMode,
			AccessModes:               claim.Spec.AccessModes,
		},
		Status: corev1.PersistentVolumeClaimStatus{
			Phase:                            claim.Status.Phase,
			Capacity:                         claim.Status.Capacity,
			AllocatedResourceStatuses:        claim.Status.AllocatedResourceStatuses,
			CurrentVolumeAttributesClassName: claim.Status.CurrentVolumeAttributesClassName,
			ModifyVolumeStatus:               claim.Status.ModifyVolumeStatus,
		},
	}
	kept.Annotations, kept.ManagedFields = claim.Annotations, plan.TrimManagedFields(claim)
	for _, condition := range claim.Status.Conditions {
		condition.LastProbeTime, condition.LastTransitionTime = metav1.Time{}, metav1.Time{}
		kept.Status.Conditions = append(kept.Status.Conditions, condition)
	}
	return kept
}
