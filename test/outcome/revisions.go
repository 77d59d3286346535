// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"fmt"
	"maps"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
)

// revisions is the oracle for revisions in docs/status.md and docs/rollouts.md: the status counts
// the pods that run them, and the update revision becomes the current one when all members run it.
type revisions struct {
	// from is the cluster at the beginning of the current sync.
	from *Scene
}

func newRevisions() *revisions { return &revisions{} }

func (*revisions) name() string { return "revision" }

func (o *revisions) changed(j *Judge, before, after *Scene, by Actor) {
	if by != Controller || o.from == nil {
		o.from = after
		return
	}
	if before.Set == nil || after.Set == nil || !works(after.Set) {
		return
	}
	was, is := before.Set.Status.CurrentRevision, &after.Set.Status
	if was != "" && was != is.CurrentRevision && is.CurrentRevision == is.UpdateRevision {
		from := *o.from
		from.Now = after.Now
		if why := incomplete(&from, after); why != "" {
			j.broken(o, "current: %s became the current revision, although %s", is.CurrentRevision, why)
		}
	}
}

func (o *revisions) synced(_ *Judge, now *Scene, _ Sync) { o.from = now }

// incomplete returns why an update is not complete, empty if it is.
func incomplete(from, after *Scene) string { //nolint:gocyclo // each condition is one reason
	set := after.Set
	rolling := rollingOf(set)
	if isPaused(set) {
		return "the update is paused"
	}
	rollsBack := rolling != nil && rolling.FailurePolicy != nil && *rolling.FailurePolicy == v1.RollbackRolloutFailurePolicy
	if rollsBack && replicas(set) == 0 {
		return "the set has no members, and failurePolicy is Rollback"
	}
	for _, n := range desired(set) {
		pod := from.podOf(n)
		switch {
		case pod == nil || pod.DeletionTimestamp != nil:
			return fmt.Sprintf("member %d has no pod, or its pod is terminating", n)
		case revisionOf(pod) != set.Status.UpdateRevision:
			return fmt.Sprintf("pod %s is at %s", pod.Name, revisionOf(pod))
		case !isReady(pod):
			return fmt.Sprintf("pod %s is not ready", pod.Name)
		case (rollsBack || rolling != nil && len(rolling.Steps) > 0) && after.Skew == 0 && !from.isAvailable(pod):
			return fmt.Sprintf("pod %s is not available", pod.Name)
		}
	}
	return ""
}

func (o *revisions) rested(j *Judge, now *Scene) {
	set := now.Set
	if !works(set) || !observed(set) {
		return
	}
	var current, updated int32
	for _, name := range slices.Sorted(maps.Keys(now.Pods)) {
		n, is := ordinal(set, name)
		pod := now.podOf(n)
		if !is || pod == nil || pod.DeletionTimestamp != nil {
			continue
		}
		current += one(revisionOf(pod) == set.Status.CurrentRevision)
		updated += one(revisionOf(pod) == set.Status.UpdateRevision)
		if revisionOf(pod) == set.Status.UpdateRevision && version(&pod.Spec) != version(&set.Spec.Template.Spec) {
			j.broken(o, "template: pod %s has the label of the update revision but runs %s, and the template has %s", name, version(&pod.Spec),
				version(&set.Spec.Template.Spec))
			return
		}
	}
	if set.Status.CurrentReplicas != current || set.Status.UpdatedReplicas != updated {
		j.broken(o, "counts: the status reports %d current and %d updated members, but %d and %d pods are",
			set.Status.CurrentReplicas, set.Status.UpdatedReplicas, current, updated)
	}
}
