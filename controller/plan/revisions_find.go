// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"crypto/sha256"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"statefulset.dev/identity"
)

// findRevisions finds the update revision, which has the current template of the set, and the
// current revision, which members have until an update reaches them.
func (f *facts) findRevisions(selector labels.Selector, reads *reader) {
	var own []*appsv1.ControllerRevision
	for _, r := range f.world.Revisions {
		controller := metav1.GetControllerOfNoCopy(r)
		if (controller == nil || controller.UID == f.world.Set.UID) && selector.Matches(labels.Set(r.Labels)) {
			own = append(own, r)
		}
	}
	f.history = sortRevisions(own)
	if f.world.Set.Status.CollisionCount != nil {
		f.collisions = *f.world.Set.Status.CollisionCount
	}
	f.update = f.recorded(identity.RevisionData(identity.SourceOf(f.world.Set)), reads)
	f.current = f.update
	for _, r := range f.history {
		if r.Name == f.world.Set.Status.CurrentRevision && r.Name != f.update.name {
			f.current = &revision{name: r.Name, data: r.Data.Raw, at: versionOf(r)}
		}
	}
}

// recorded finds the revision that records the template of the set, or the name for a new one. A
// record that differs only in its encoding (by another release, or before a default was known) is
// the same revision: an encoding is no reason to restart members. Among several records, one that
// pods run has preference, for the same reason; then the one that the status names, so that the
// choice is stable; then one that is identical byte for byte; then the latest.
func (f *facts) recorded(data []byte, reads *reader) *revision {
	var found *revision
	best := 0
	for i, r := range slices.Backward(f.history) {
		inUse, equal := f.carried[r.Name] > 0, bytes.Equal(r.Data.Raw, data)
		if !equal && (!inUse && i < len(f.history)-1 || reads.digest(r) != sha256.Sum256(data)) {
			continue
		}
		if score := 1 + 4*one(inUse) + 2*one(r.Name == f.world.Set.Status.UpdateRevision) + one(equal); score > best {
			found, best = &revision{name: r.Name, data: data}, score
		}
	}
	if found != nil {
		return found
	}
	return &revision{name: f.freeName(data), data: data}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// freeName is the name under which a template can be recorded. A record of the same template counts
// as free, regardless of its owner: the name leads to the right data. A record of another template
// is a hash collision.
func (f *facts) freeName(data []byte) string {
	for {
		name := identity.RevisionName(f.world.Set.Name, revisionHash(data, f.collisions))
		taken := slices.IndexFunc(f.world.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == name })
		if taken < 0 || bytes.Equal(f.world.Revisions[taken].Data.Raw, data) {
			return name
		}
		f.collisions++
	}
}
