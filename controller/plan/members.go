// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"iter"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// member is one ordinal and what is known about it.
type member struct {
	ordinal int
	// pod is the member's pod, nil if there is none.
	pod *corev1.Pod
	// nameHolder is a pod that has the member's name but is not owned by the set, nil if there is
	// none. As long as it exists, the member cannot be created.
	nameHolder *corev1.Pod
	// place and class are the position of the member in the order of updates: a member with a
	// place below 0 comes first, and a member with a class above 0 last.
	place, class int
}

// podNamed is the pod with a name, regardless of its owner, nil if there is none.
func (f *facts) podNamed(name string) *corev1.Pod {
	if f.podNames == nil {
		f.podNames = make(map[string]*corev1.Pod, len(f.world.Pods))
		for _, pod := range f.world.Pods {
			f.podNames[pod.Name] = pod
		}
	}
	return f.podNames[name]
}

func (f *facts) podName(m member) string { return identity.PodName(f.world.Set.Name, m.ordinal) }

// isUnavailable reports whether the member is not available: it has no pod, or its pod is not
// available or is terminating.
func (f *facts) isUnavailable(m member) bool {
	return m.pod == nil || isTerminating(m.pod) || !f.isAvailable(m.pod)
}

// all are the desired members and the surplus ones.
func (f *facts) all() iter.Seq[member] {
	return func(yield func(member) bool) {
		for _, members := range [][]member{f.members, f.condemned} {
			for _, m := range members {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// One plan deals with a bounded number of members without a pod, so that the size of a plan does
// not depend on spec.replicas. The total of what these members do not share is bounded, too:
// labels, claims and volumes.
const (
	mostMissing = 500
	mostParts   = 25_000
)

// missingAtOnce is the number of members without a pod that this plan deals with. For ordinary
// sets, with up to 50 parts per member, it is always the same number.
func (f *facts) missingAtOnce() int {
	spec := &f.world.Set.Spec
	parts := 1 + len(spec.Template.Labels) + f.overrideParts() + f.identityParts() + f.objectParts()
	selected := 0
	if spec.Selector != nil {
		selected = len(spec.Selector.MatchLabels)
	}
	for i := range spec.VolumeClaimTemplates {
		parts += 2 + len(spec.VolumeClaimTemplates[i].Labels) + selected
	}
	if len(spec.VolumeClaimTemplates) > 0 {
		parts += len(spec.Template.Spec.Volumes)
	}
	return min(mostMissing, max(1, mostParts/parts))
}

// sortMembers assigns the pods to the members.
func (f *facts) sortMembers(selector labels.Selector) {
	f.members = make([]member, 0, len(f.world.Pods))
	for _, pod := range f.world.Pods {
		set, ordinal, named := identity.ParsePodName(pod.Name)
		named = named && set == f.world.Set.Name
		m := member{ordinal: ordinal, pod: pod}
		switch f.belongs(pod, named && selector.Matches(labels.Set(pod.Labels))) {
		case isOurs:
		case isOrphan:
			f.adopt = append(f.adopt, m)
		case isLost:
			f.release = append(f.release, action.Exact(pod))
			m = member{ordinal: ordinal, nameHolder: pod}
		case isForeign:
			m = member{ordinal: ordinal, nameHolder: pod}
		}
		if named && f.roster.Contains(ordinal) {
			f.members = append(f.members, m)
		} else if m.pod != nil {
			f.condemned = append(f.condemned, m)
		}
	}
	f.fillMembers()
	slices.SortFunc(f.adopt, func(a, b member) int { return cmp.Compare(a.ordinal, b.ordinal) })
	slices.SortFunc(f.release, func(a, b action.Target) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(f.condemned, func(a, b member) int { return cmp.Compare(b.ordinal, a.ordinal) })
	f.countMembers()
}

// fillMembers sorts the members that have a pod by ordinal, and adds the first members without a
// pod between them. If the world has a pod twice, the later version counts.
func (f *facts) fillMembers() {
	// This sorts numbers made of ordinal and index: to sort the members themselves would take a
	// tenth of the sync of a large set.
	order := make([]uint64, len(f.members))
	for i, m := range f.members {
		order[i] = uint64(m.ordinal)<<32 | uint64(i) //nolint:gosec // neither is negative
	}
	slices.Sort(order)
	known := make([]member, 0, len(f.members))
	for i, at := range order {
		if i+1 == len(order) || order[i+1]>>32 != at>>32 {
			known = append(known, f.members[at&math.MaxUint32])
		}
	}
	f.members = known
	if missing := min(f.roster.Len()-len(known), f.missingAtOnce()); missing > 0 {
		f.members = f.withMissing(known, missing)
	}
}

// withMissing adds a number of members without a pod between those that have one.
func (f *facts) withMissing(known []member, missing int) []member {
	all := make([]member, 0, len(known)+missing)
	for ordinal := range f.roster.All() {
		switch {
		case len(known) > 0 && known[0].ordinal == ordinal:
			all, known = append(all, known[0]), known[1:]
		case missing > 0:
			all = append(all, member{ordinal: ordinal})
			missing--
		default:
			return append(all, known...)
		}
	}
	return all
}

// countMembers counts what the rules and the status need repeatedly.
func (f *facts) countMembers() {
	for _, m := range f.members {
		if !f.isUnavailable(m) {
			f.available++
		}
	}
	f.podsAtRevision = map[string]int{}
	for m := range f.all() {
		if m.pod != nil {
			f.podsAtRevision[revisionOf(m.pod)]++
		}
	}
}

// VisitMembers calls visit for each desired member that has a pod, in ascending order, with the
// ordinal, the UID and the revision of the pod, and whether the member is available. From the world
// it needs only the set, its pods and the time.
func VisitMembers(world World, visit func(ordinal int, pod types.UID, revision string, serves bool)) {
	f := survey(world, &reader{})
	for _, m := range f.members {
		if m.pod != nil {
			visit(m.ordinal, m.pod.UID, revisionOf(m.pod), !f.isUnavailable(m))
		}
	}
}
