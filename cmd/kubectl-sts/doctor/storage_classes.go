// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// mostClasses is how many StorageClasses are looked up.
const mostClasses = 20

// withoutClass finds claims of members that get no volume because their StorageClass does not
// exist. It looks up each class once, and reports the first claim of each class.
func (e *examiner) withoutClass(ctx context.Context, sets []v1.StatefulSet, claims []corev1.PersistentVolumeClaim) (found []finding) {
	looked := map[string]bool{}
	for i := range claims {
		claim := &claims[i]
		if claim.Status.Phase != corev1.ClaimPending || claim.DeletionTimestamp != nil {
			continue
		}
		member, ok := memberWith(sets, claim)
		if !ok {
			continue
		}
		about := fmt.Sprintf("claim %s/%s", claim.Namespace, claim.Name)
		class := claim.Spec.StorageClassName
		switch {
		case class == nil && !looked[""]:
			looked[""] = true
			found = append(found, warnFinding(about,
				fmt.Sprintf("names no StorageClass, and the cluster has set no default one, so member %s gets no volume", member),
				"kubectl get storageclasses  # make one the default, or name one in the claim template"))
		case class == nil, *class == "", looked[*class], len(looked) > mostClasses:
		default:
			looked[*class] = true
			found = append(found, e.lacksClass(ctx, about, member, *class)...)
		}
	}
	return found
}

// lacksClass reports a StorageClass that does not exist.
func (e *examiner) lacksClass(ctx context.Context, about, member, class string) []finding {
	_, err := e.host.StorageV1().StorageClasses().Get(ctx, class, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []finding{
			warnFinding(about, fmt.Sprintf(
				"its StorageClass %q does not exist, so member %s has no volume until a PersistentVolume of that class exists", class, member),
				fmt.Sprintf("kubectl get storageclasses  # create %s, or name another one in the claim template", class))}
	case err != nil:
		return []finding{skipFinding(about, err)}
	default:
		return nil
	}
}
