// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// statusInterval is how long the counts in a status may be outdated. A set that changes every few
// milliseconds would otherwise wait for its own status most of the time, and no one can read that
// fast.
const statusInterval = 50 * time.Millisecond

// updateStatus writes the status if a reader would notice a difference. If only counts differ from
// a status that was just written, it returns how long the write can wait.
func (t *term) updateStatus(ctx context.Context, set *v1.StatefulSet, status v1.StatefulSetStatus) (time.Duration, error) {
	if equality.Semantic.DeepEqual(set.Status, status) {
		return 0, nil
	}
	state := t.states.getOrCreate(cache.MetaObjectToName(set))
	if equality.Semantic.DeepEqual(withoutCounts(set.Status), withoutCounts(status)) {
		if left := state.statusWritten().Add(statusInterval).Sub(t.config.Clock.Now()); left > 0 {
			return left, nil
		}
	}
	if _, err := t.writeStatus(ctx, set, status); err != nil {
		return 0, err
	}
	state.keepStatusWritten(t.config.Clock.Now())
	return 0, nil
}

// withoutCounts is the part of a status that is written at once: what the next sync must know, and
// what clients wait for. It has no messages of conditions, because they count members, too.
func withoutCounts(status v1.StatefulSetStatus) v1.StatefulSetStatus {
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas = 0, 0, 0
	status.CurrentReplicas, status.UpdatedReplicas, status.LastProgressTime = 0, 0, nil
	status.Conditions = slices.Clone(status.Conditions)
	for i := range status.Conditions {
		status.Conditions[i].Message = ""
	}
	return status
}

// writeStatus writes a status, and returns the set that has it.
func (t *term) writeStatus(ctx context.Context, set *v1.StatefulSet, status v1.StatefulSetStatus) (written *v1.StatefulSet, err error) {
	updated := *set
	updated.Status = status
	err = t.write(ctx, func(ctx context.Context) (err error) {
		written, err = t.config.Sets.AppsV1().StatefulSets(set.Namespace).UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
		switch {
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			return &staleRead{err}
		case err != nil:
			return fmt.Errorf("writing status: %w", err)
		}
		t.states.getOrCreate(cache.MetaObjectToName(set)).wrote(setsResource, written.ResourceVersion)
		return nil
	})
	return written, err
}

func (m *setState) statusWritten() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.statusAt
}

func (m *setState) keepStatusWritten(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statusAt = at
}
