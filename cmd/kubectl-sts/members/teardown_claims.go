// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// page is the number of objects per list request.
const page = 500

// pods returns the names of the pods of a set, with the highest ordinal first.
func (t *teardown) pods(ctx context.Context, set *v1.StatefulSet) ([]string, error) {
	var names []string
	err := t.each(ctx, "pods", metav1.FormatLabelSelector(set.Spec.Selector), func(pod *metav1.PartialObjectMetadata) {
		if metav1.IsControlledBy(pod, set) {
			names = append(names, pod.Name)
		}
	})
	slices.SortFunc(names, func(a, b string) int {
		_, x, _ := identity.ParsePodName(a)
		_, y, _ := identity.ParsePodName(b)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a, b))
	})
	return names, err
}

func (t *teardown) claims(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	var claims []metav1.PartialObjectMetadata
	err := t.each(ctx, "persistentvolumeclaims", "", func(claim *metav1.PartialObjectMetadata) { claims = append(claims, *claim) })
	return claims, err
}

func (t *teardown) each(ctx context.Context, resource, selector string, visit func(*metav1.PartialObjectMetadata)) error {
	options := metav1.ListOptions{LabelSelector: selector, Limit: page}
	for {
		list, err := t.objects.Resource(corev1.SchemeGroupVersion.WithResource(resource)).Namespace(t.namespace).List(ctx, options)
		if err != nil {
			return fmt.Errorf("listing %s: %w", resource, err)
		}
		for i := range list.Items {
			visit(&list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return nil
		}
	}
}

// claimOutcomes lists what happens to the claims of a set that is removed in order.
type claimOutcomes struct {
	// withMembers are deleted with their members, withSet with the set, and kept stay.
	withMembers, withSet, kept []string
}

// claimOutcomesOf decides by the retention policy for claims of members, because the controller
// sets their owners by it. For other claims it decides by their present owners.
func claimOutcomesOf(set *v1.StatefulSet, pods []string, claims []metav1.PartialObjectMetadata) claimOutcomes {
	const remove = v1.DeletePersistentVolumeClaimRetentionPolicyType
	var policy v1.StatefulSetPersistentVolumeClaimRetentionPolicy
	if set.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		policy = *set.Spec.PersistentVolumeClaimRetentionPolicy
	}
	var f claimOutcomes
	for i := range claims {
		claim := &claims[i]
		_, ordinal, ours := identity.ParseClaimName(claim.Name, set.Name, set.Spec.VolumeClaimTemplates)
		if !ours || claim.DeletionTimestamp != nil {
			continue
		}
		pod := identity.PodName(set.Name, ordinal)
		member := slices.Contains(pods, pod)
		ownedBySet := slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == set.UID })
		switch {
		case ofAnother(claim, set, pod):
			f.kept = append(f.kept, claim.Name)
		case member && policy.WhenScaled == remove:
			f.withMembers = append(f.withMembers, claim.Name)
		case member && policy.WhenDeleted == remove, !member && ownedBySet:
			f.withSet = append(f.withSet, claim.Name)
		default:
			f.kept = append(f.kept, claim.Name)
		}
	}
	return f
}

// ofAnother reports whether another object controls a claim. The policy does not apply to such a
// claim.
func ofAnother(claim *metav1.PartialObjectMetadata, set *v1.StatefulSet, pod string) bool {
	owner := metav1.GetControllerOfNoCopy(claim)
	return owner != nil && owner.UID != set.UID && (owner.Kind != "Pod" || owner.Name != pod)
}

func (f claimOutcomes) texts() []string {
	var texts []string
	for _, group := range []struct {
		what  string
		names []string
	}{
		{"claims that are deleted with their members, because whenScaled is Delete", f.withMembers},
		{"claims that are deleted with the set", f.withSet},
		{"claims that stay", f.kept},
	} {
		if len(group.names) > 0 {
			texts = append(texts, group.what+listed(group.names))
		}
	}
	return texts
}
