// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// evaluated is what this term has evaluated of a set's expressions: the inputs, the members, and
// the objects whose outputs it has read.
type evaluated struct {
	set     types.UID
	inputs  string
	members map[int]bool
	outputs map[identity.ObjectKey]bool
	// wasInterrupted is true if a process ended while it evaluated the set, ended if a trial of
	// outputs has ended a process.
	wasInterrupted, ended bool
}

// recordInterrupted records whether a process ended while it evaluated the set. If so, the outputs
// of its objects are first evaluated in a separate process as well.
func (m *setState) recordInterrupted(suspected bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.evaluated.wasInterrupted = m.evaluated.wasInterrupted || suspected
}

// wasInterrupted reports whether a process ended while it evaluated the set.
func (m *setState) wasInterrupted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.evaluated.wasInterrupted
}

// keepEnded records that a trial of outputs has ended a process.
func (m *setState) keepEnded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.evaluated.ended = true
}

// outputsEnded reports, once, whether a trial of outputs has ended a process.
func (m *setState) outputsEnded() (ended bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ended, m.evaluated.ended = m.evaluated.ended, false
	return ended
}

// notEvaluated returns the members, of those evaluated under one mark, for which the inputs have
// not been evaluated. It also reports whether none is left.
func (m *setState) notEvaluated(set *v1.StatefulSet, inputs string) (left []int, done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.evaluated.set == set.UID && m.evaluated.inputs == inputs
	count := 0
	for ordinal := range identity.OrdinalsOf(set).All() {
		if count++; count > maxMembersPerMark {
			break
		}
		if !known || !m.evaluated.members[ordinal] {
			left = append(left, ordinal)
		}
	}
	return left, known && len(left) == 0
}

func (m *setState) keepEvaluated(set *v1.StatefulSet, inputs string, members []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.evaluated.set != set.UID || m.evaluated.inputs != inputs || len(m.evaluated.members) > 2*maxMembersPerMark {
		m.evaluated = evaluated{set: set.UID, inputs: inputs, members: map[int]bool{}}
	}
	for _, ordinal := range members {
		m.evaluated.members[ordinal] = true
	}
}

// newOutputs are objects with outputs that this term has not read yet.
func (m *setState) newOutputs(set *v1.StatefulSet, due []plan.ObjectRead) (unknown []identity.ObjectKey) {
	gives := map[string]bool{}
	for i := range set.Spec.ObjectTemplates {
		gives[set.Spec.ObjectTemplates[i].Name] = len(set.Spec.ObjectTemplates[i].Outputs) > 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, read := range due {
		if gives[read.Template] && (m.evaluated.set != set.UID || !m.evaluated.outputs[read.Key]) {
			unknown = append(unknown, read.Key)
		}
	}
	return unknown
}

// keepOutputsSeen records objects whose outputs are evaluated under a mark.
func (m *setState) keepOutputsSeen(uid types.UID, keys []identity.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.evaluated.set != uid {
		m.evaluated = evaluated{set: uid}
	}
	if m.evaluated.outputs == nil {
		m.evaluated.outputs = map[identity.ObjectKey]bool{}
	}
	for _, key := range keys {
		m.evaluated.outputs[key] = true
	}
}

// olderSources are the sources of earlier revisions that pods of a set were created from, and may
// be again, if their transforms differ from the set's. It is cheap for sets without expressions.
func (t *term) olderSources(set *v1.StatefulSet) (older []identity.Source) {
	const most = 3
	names := []string{set.Status.CurrentRevision}
	for _, pod := range t.view.podsOf(set) {
		if name := pod.Labels[identity.RevisionLabel]; len(names) <= most && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, revision := range t.view.revisionsOf(set) {
		if !slices.Contains(names, revision.Name) || !identity.RecordsTransforms(revision.Data.Raw) {
			continue
		}
		source, err := identity.Recorded(revision.Data.Raw)
		if err == nil && !equality.Semantic.DeepEqual(source.Identity, set.Spec.Identity) {
			older = append(older, source)
		}
	}
	slices.SortStableFunc(older, func(a, b identity.Source) int {
		return cmp.Compare(len(a.Identity.Transforms), len(b.Identity.Transforms))
	})
	return older[:min(len(older), most)]
}
