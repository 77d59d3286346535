// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// act performs a step. Every write depends on the version of the object that was read. After a
// conflict, the caller observes the cluster again.
func (c cluster) act(ctx context.Context, next step, s situation) error {
	switch next {
	case createOurs:
		return c.createOurs(ctx, s, metav1.CreateOptions{})
	case createTheirs:
		return c.createTheirs(ctx, s, metav1.CreateOptions{})
	case discardOurs:
		return c.discard(ctx, s.ours)
	case deleteOurs:
		return c.sets.AppsV1().StatefulSets(s.ours.Namespace).Delete(ctx, s.ours.Name, orphaning(s.ours))
	case deleteTheirs:
		return c.host.AppsV1().StatefulSets(s.theirs.Namespace).Delete(ctx, s.theirs.Name, orphaning(s.theirs))
	case copyStatusToOurs:
		return c.copyStatusToOurs(ctx, s)
	case copyStatusToTheirs:
		return c.copyStatusToTheirs(ctx, s)
	case keepClaims:
		return c.setRetention(ctx, s.theirs, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	case restoreClaims:
		return c.setRetention(ctx, s.theirs,
			appsv1.PersistentVolumeClaimRetentionPolicyType(s.ours.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted))
	case releaseClaims:
		return c.releaseClaims(ctx, s)
	case releaseRevisions:
		return c.releaseRevisions(ctx, s)
	case beginHold:
		return c.setHold(ctx, s.ours, leavingMark)
	case endHold, pauseHold:
		return c.setHold(ctx, s.ours, "")
	case dropStrays:
		return c.dropStrays(ctx, s)
	default:
		return fmt.Errorf("step %d has no action", next)
	}
}

func (c cluster) createOurs(ctx context.Context, s situation, options metav1.CreateOptions) error {
	set, err := toOurs(s.theirs)
	if err != nil {
		return err
	}
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[v1.HoldAnnotation] = arrivingFrom(s.theirs.UID)
	created, err := c.sets.AppsV1().StatefulSets(set.Namespace).Create(ctx, set, options)
	if err != nil || sameSpec(s.theirs, created) {
		return err
	}
	if len(options.DryRun) == 0 {
		if err := c.discard(ctx, created); err != nil {
			return fmt.Errorf("removing the new set, which differs from the apps/v1 set: %w", err)
		}
	}
	return &changedError{v1.SchemeGroupVersion.String(), differences(s.theirs, created)}
}

// changedError says that a server has changed the spec of a set on creation.
type changedError struct {
	server string
	fields []string
}

func (e *changedError) Error() string {
	return fmt.Sprintf(
		"%s changes the spec of the set in %s, which would restart pods: the two servers set different defaults, or a webhook changes the set", e.server, strings.Join(e.fields, ", "))
}

// createTheirs checks once more which members an update has reached, because the update continued
// until the hold.
func (c cluster) createTheirs(ctx context.Context, s situation, options metav1.CreateOptions) error {
	if err := refuseRollout(s.ours, s.pods); err != nil {
		return err
	}
	set, err := toTheirs(s.ours)
	if err != nil {
		return err
	}
	created, err := c.host.AppsV1().StatefulSets(set.Namespace).Create(ctx, set, options)
	if err == nil && !sameSpec(created, s.ours) {
		return &changedError{appsv1.SchemeGroupVersion.String(), differences(created, s.ours)}
	}
	return err
}

func (c cluster) copyStatusToOurs(ctx context.Context, s situation) error {
	from, to := s.theirs.Status, s.ours.DeepCopy()
	to.Status.CurrentRevision, to.Status.UpdateRevision, to.Status.CollisionCount = from.CurrentRevision, from.UpdateRevision,
		from.CollisionCount
	_, err := c.sets.AppsV1().StatefulSets(to.Namespace).UpdateStatus(ctx, to, metav1.UpdateOptions{})
	return err
}

func (c cluster) copyStatusToTheirs(ctx context.Context, s situation) error {
	from, to := s.ours.Status, s.theirs.DeepCopy()
	to.Status.CurrentRevision, to.Status.UpdateRevision, to.Status.CollisionCount = from.CurrentRevision, from.UpdateRevision,
		from.CollisionCount
	_, err := c.host.AppsV1().StatefulSets(to.Namespace).UpdateStatus(ctx, to, metav1.UpdateOptions{})
	return err
}

func (c cluster) setRetention(ctx context.Context, set *appsv1.StatefulSet,
	whenDeleted appsv1.PersistentVolumeClaimRetentionPolicyType) error {
	patch := boundPatch(set, nil)
	patch["spec"] = map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": whenDeleted}}
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	_, err = c.host.AppsV1().StatefulSets(set.Namespace).Patch(ctx, set.Name, types.MergePatchType, data, metav1.PatchOptions{})
	return err
}

// setHold writes the hold annotation; an empty value removes it.
func (c cluster) setHold(ctx context.Context, set *v1.StatefulSet, why string) error {
	annotations := map[string]any{v1.HoldAnnotation: nil}
	if why != "" {
		annotations[v1.HoldAnnotation] = why
	}
	data, err := json.Marshal(boundPatch(set, map[string]any{"annotations": annotations}))
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	_, err = c.sets.AppsV1().StatefulSets(set.Namespace).Patch(ctx, set.Name, types.MergePatchType, data, metav1.PatchOptions{})
	return err
}

// releaseClaims removes the owner references to the set that is about to be deleted from all
// claims.
func (c cluster) releaseClaims(ctx context.Context, s situation) error {
	from := s.sourceUID()
	for i := range s.claims {
		claim := &s.claims[i]
		if !refersTo(claim, from) {
			continue
		}
		data, err := json.Marshal(withoutOwner(claim, from))
		if err != nil {
			return fmt.Errorf("encoding a patch: %w", err)
		}
		if _, err := c.host.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(ctx, claim.Name, types.MergePatchType, data,
			metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("releasing claim %s: %w", claim.Name, err)
		}
	}
	return nil
}

func (c cluster) releaseRevisions(ctx context.Context, s situation) error {
	for i := range s.revisions {
		revision := &s.revisions[i]
		if !refersTo(revision, s.ours.UID) {
			continue
		}
		data, err := json.Marshal(withoutOwner(revision, s.ours.UID))
		if err != nil {
			return fmt.Errorf("encoding a patch: %w", err)
		}
		if _, err := c.host.AppsV1().ControllerRevisions(revision.Namespace).Patch(ctx, revision.Name, types.MergePatchType, data,
			metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("releasing revision %s: %w", revision.Name, err)
		}
	}
	return nil
}

func (c cluster) dropStrays(ctx context.Context, s situation) error {
	for _, revision := range s.strays() {
		if err := c.host.AppsV1().ControllerRevisions(revision.Namespace).Delete(ctx, revision.Name, orphaning(revision)); err != nil {
			return fmt.Errorf("deleting revision %s: %w", revision.Name, err)
		}
	}
	return nil
}

// sourceUID returns the UID of the set that a move will delete.
func (s *situation) sourceUID() types.UID {
	if state, _ := moveStateOf(s.ours); state == leaving {
		return s.ours.UID
	}
	return s.theirs.UID
}

func withoutOwner(object metav1.Object, uid types.UID) map[string]any {
	owners := slices.DeleteFunc(slices.Clone(object.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return ref.UID == uid })
	return boundPatch(object, map[string]any{"ownerReferences": owners})
}

// boundPatch returns a patch of metadata that applies only to the version of the object that was
// read.
func boundPatch(object metav1.Object, metadata map[string]any) map[string]any {
	bound := map[string]any{"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion()}
	maps.Copy(bound, metadata)
	return map[string]any{"metadata": bound}
}
