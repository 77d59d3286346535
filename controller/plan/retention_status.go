// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// countRetired reports how many objects of a template are deleted after a delay, and when the first
// is due.
func (o *supportingObjects) countRetired(status *v1.ObjectTemplateStatus) {
	for _, r := range o.retired {
		if r.template != status.Name || r.kind.GroupKind().String() != status.Kind || r.removed.IsZero() == identity.IsRemoved(*status) {
			continue
		}
		status.Retired++
		if due := metav1.NewTime(r.due.UTC()); !r.since.IsZero() && (status.DueTime == nil || due.Before(status.DueTime)) {
			status.DueTime = &due
		}
		if !r.since.IsZero() && !r.proven && status.Message == "" {
			status.Message = fmt.Sprintf("%s %s is kept: %s", r.kind.Kind, r.found.Name, unproven)
		}
	}
}

// tellUndeleted reports in a status the objects that are due and could not be deleted. Nothing
// waits for that, so it changes no condition.
func tellUndeleted(status v1.StatefulSetStatus, failures []Failure) v1.StatefulSetStatus {
	copied := false
	for _, failure := range failures {
		a, ok := failure.Action.(action.DeleteObject)
		at := slices.IndexFunc(status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool {
			return ok && s.Name == a.Template && s.Kind == a.Kind.GroupKind().String() && identity.IsRemoved(s) == (a.Unused != "")
		})
		if at < 0 || status.ObjectTemplates[at].Message != "" {
			continue
		}
		if !copied {
			status, copied = *status.DeepCopy(), true
		}
		status.ObjectTemplates[at].Message = fmt.Sprintf("%s %s has been due since %s, but could not be deleted: %s%s", a.Kind.Kind, a.At.Name,
			words.Clock(a.Due), Cause(failure.Err), remedyFor(a.Kind.GroupKind(), failure.Err))
	}
	return status
}

// tellUnreclaimed reports in a status the claims that are due and could not be deleted, which
// changes no condition either. For a member that does not fit into the list, the message is on the
// entry that is due first.
func tellUnreclaimed(status v1.StatefulSetStatus, failures []Failure) v1.StatefulSetStatus {
	copied := false
	for _, failure := range failures {
		a, ok := failure.Action.(action.DeleteClaim)
		if !ok || len(status.Reclaims) == 0 {
			continue
		}
		at, told := 0, v1.Reclaim{First: int32(a.Ordinal)} //nolint:gosec // a name has no larger one
		if listed := slices.IndexFunc(status.Reclaims, func(r v1.Reclaim) bool {
			return int(r.First) <= a.Ordinal && a.Ordinal <= r.End() && r.DueTime.Time.Equal(a.Due)
		}); listed >= 0 {
			at, told = listed, status.Reclaims[listed]
		}
		if status.Reclaims[at].Message != "" {
			continue
		}
		if !copied {
			status.Reclaims, copied = slices.Clone(status.Reclaims), true
		}
		status.Reclaims[at].Message = fmt.Sprintf("claims of %s have been due since %s, but could not be deleted: %s%s", ordinalsOf(told),
			words.Clock(a.Due), Cause(failure.Err), reclaimRemedy(failure.Err))
	}
	return status
}

func ordinalsOf(r v1.Reclaim) string {
	if r.End() == int(r.First) {
		return fmt.Sprintf("ordinal %d", r.First)
	}
	return fmt.Sprintf("ordinals %d-%d", r.First, r.End())
}

// reclaimRemedy says how an operator allows the controller to delete claims, empty if that is not
// what is missing.
func reclaimRemedy(err error) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	return "; if the controller lacks the right: kubectl apply -k artifacts/reclaim"
}

// remedyFor says how an operator allows the controller to delete objects of a kind, empty if that
// is not what is missing.
func remedyFor(kind schema.GroupKind, err error) string {
	folders := map[schema.GroupKind]string{
		{Kind: "ConfigMap"}: "configmaps", {Kind: "Secret"}: "secrets", {Kind: "Service"}: "services", {Group: "batch", Kind: "Job"}: "jobs",
	}
	switch folder := folders[kind]; {
	case !apierrors.IsForbidden(err):
		return ""
	case folder != "":
		return "; if the controller lacks the right: kubectl apply -k artifacts/objects-delete/" + folder
	default:
		return "; if the controller lacks the right: label a ClusterRole that allows it " + v1.GroupName + "/aggregate-to-controller=true"
	}
}
