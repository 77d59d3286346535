// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/target"
	"statefulset.dev/identity"
)

// renewClaims deletes the claims of the members, and returns how many, and whether to continue. It
// first checks with a dry run that the server would replace the members: a member that is not
// replaced would lose its deleted claims when its pod is next deleted.
func (r *replacement) renewClaims(ctx context.Context, set *v1.StatefulSet) (lost int, goOn bool, err error) {
	claims, err := r.claims(ctx, set)
	if err != nil {
		return 0, false, err
	}
	if r.dryRun != cmdutil.DryRunClient {
		if err := r.ask(ctx, set.UID, cmdutil.DryRunServer); err != nil {
			return 0, false, err
		}
	}
	if goOn, err = r.giveUp(ctx, claims); err != nil {
		return 0, false, fmt.Errorf("no member was replaced: %w", err)
	}
	return len(claims), goOn, nil
}

// claims returns the claims of the members, except for claims that are already being deleted.
func (r *replacement) claims(ctx context.Context, set *v1.StatefulSet) ([]*corev1.PersistentVolumeClaim, error) {
	var claims []*corev1.PersistentVolumeClaim
	for i := range set.Spec.VolumeClaimTemplates {
		for _, ordinal := range r.ordinals {
			name := identity.ClaimName(set.Spec.VolumeClaimTemplates[i].Name, r.set, int(ordinal))
			claim, err := r.host.CoreV1().PersistentVolumeClaims(r.namespace).Get(ctx, name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				continue
			case err != nil:
				return nil, fmt.Errorf("reading claim %s: %w", name, err)
			case claim.DeletionTimestamp != nil:
				continue
			}
			owner := metav1.GetControllerOfNoCopy(claim)
			if pod := identity.PodName(r.set, int(ordinal)); owner != nil && owner.UID != set.UID && (owner.Kind != "Pod" || owner.Name != pod) {
				return nil, fmt.Errorf("claim %s is controlled by %s %s, so it is not deleted; nothing was changed", name, owner.Kind, owner.Name)
			}
			claims = append(claims, claim)
		}
	}
	return claims, nil
}

// giveUp shows the claims to the user, asks for confirmation, and deletes them. It reports whether
// to continue. The cluster keeps each claim until the pod that mounts it has terminated.
func (r *replacement) giveUp(ctx context.Context, claims []*corev1.PersistentVolumeClaim) (goOn bool, err error) {
	for _, claim := range claims {
		r.printf("claim %s (%s) will be deleted with all its data%s", claim.Name, sizeOf(claim), target.DryRunSuffix(r.dryRun))
	}
	if len(claims) == 0 {
		r.printf("the members have no claims that are not already being deleted")
		return true, nil
	}
	if r.dryRun == cmdutil.DryRunClient {
		return true, nil
	}
	if !r.yes && r.dryRun == cmdutil.DryRunNone {
		if agreed, err := r.confirm("Delete them? [y/N] "); err != nil || !agreed {
			r.printf("nothing was changed")
			return false, err
		}
	}
	options := metav1.DeleteOptions{DryRun: target.DryRun(r.dryRun)}
	for i, claim := range claims {
		options.Preconditions = &metav1.Preconditions{UID: &claim.UID}
		err := r.host.CoreV1().PersistentVolumeClaims(r.namespace).Delete(ctx, claim.Name, options)
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("deleting claim %s (the %d claims before it are being deleted): %w", claim.Name, i, err)
		}
	}
	return true, nil
}

// sizeOf returns the capacity of a claim, or its request if it has no volume.
func sizeOf(claim *corev1.PersistentVolumeClaim) string {
	if size := claim.Status.Capacity.Storage(); !size.IsZero() {
		return size.String()
	}
	return claim.Spec.Resources.Requests.Storage().String()
}
