// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"statefulset.dev/identity"
)

// member is one ordinal and what is known of it.
type member struct {
	ordinal int
	// pod is the member's pod, nil if there is none.
	pod *corev1.Pod
	// taken is a pod that has the member's name and is not the set's, nil if there
	// is none. As long as it exists the member cannot be created.
	taken *corev1.Pod
}

func (p *planner) podName(m member) string { return identity.PodName(p.Set.Name, m.ordinal) }

// unavailable reports whether the member serves nobody: it has no pod, or one that
// is not available or about to go.
func (p *planner) unavailable(m member) bool {
	return m.pod == nil || isTerminating(m.pod) || !p.isAvailable(m.pod)
}

// outdated reports whether the member has a pod of another revision than the
// present template's.
func (p *planner) outdated(m member) bool {
	return m.pod != nil && revisionOf(m.pod) != p.update.name
}

// all are the wanted members and the condemned ones.
func (p *planner) all() iter.Seq[member] {
	return func(yield func(member) bool) {
		for _, members := range [][]member{p.members, p.condemned} {
			for _, m := range members {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// How many members that have no pod one plan deals with is bounded, because it keeps the
// size of a plan independent of what a user may write into spec.replicas; and so is how
// much these members have together that they do not share: labels, claims and volumes.
const (
	mostMissing = 500
	mostParts   = 25_000
)

// missingAtOnce is how many members that have no pod this plan deals with. Of ordinary
// sets, with up to 50 parts a member, it is always the same number.
func (p *planner) missingAtOnce() int {
	spec := &p.Set.Spec
	parts := 1 + len(spec.Template.Labels)
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

// sortMembers finds out which pod is which member.
func (p *planner) sortMembers(selector labels.Selector) {
	p.roster = identity.OrdinalsOf(p.Set)
	p.wanted = p.roster.Len()
	p.members = make([]member, 0, len(p.Pods))
	for _, pod := range p.Pods {
		set, ordinal, named := identity.ParsePodName(pod.Name)
		named = named && set == p.Set.Name
		m := member{ordinal: ordinal, pod: pod}
		switch p.belongs(pod, named && selector.Matches(labels.Set(pod.Labels))) {
		case isOurs:
		case isOrphan:
			p.adopt = append(p.adopt, m)
		case isLost:
			p.release = append(p.release, exact(pod))
			m = member{ordinal: ordinal, taken: pod}
		case isForeign:
			m = member{ordinal: ordinal, taken: pod}
		}
		if named && p.roster.Contains(ordinal) {
			p.members = append(p.members, m)
		} else if m.pod != nil {
			p.condemned = append(p.condemned, m)
		}
	}
	p.fillMembers()
	slices.SortFunc(p.adopt, func(a, b member) int { return cmp.Compare(a.ordinal, b.ordinal) })
	slices.SortFunc(p.release, func(a, b Target) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(p.condemned, func(a, b member) int { return cmp.Compare(b.ordinal, a.ordinal) })
	p.countMembers()
}

// fillMembers puts the members that have a pod into the order of their ordinals, and
// between them the first of those that have none. Of two looks at one pod the later
// counts.
func (p *planner) fillMembers() {
	slices.SortStableFunc(p.members, func(a, b member) int { return cmp.Compare(a.ordinal, b.ordinal) })
	known := p.members[:0]
	for i, m := range p.members {
		if i+1 == len(p.members) || p.members[i+1].ordinal != m.ordinal {
			known = append(known, m)
		}
	}
	p.members = known
	if missing := min(p.wanted-len(known), p.missingAtOnce()); missing > 0 {
		p.members = p.withMissing(known, missing)
	}
}

// withMissing puts so many members without a pod between those that have one.
func (p *planner) withMissing(known []member, missing int) []member {
	all := make([]member, 0, len(known)+missing)
	for ordinal := range p.roster.All() {
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

// countMembers counts what the rules and the status ask for again and again.
func (p *planner) countMembers() {
	for _, m := range p.members {
		if !p.unavailable(m) {
			p.available++
		}
	}
	p.carried = map[string]int{}
	for m := range p.all() {
		if m.pod != nil {
			p.carried[revisionOf(m.pod)]++
		}
	}
}

// belonging says whose a pod is.
type belonging int

const (
	isForeign belonging = iota // somebody else's, or nobody's and none that we could take
	isOurs                     // the set controls it, and its name and labels fit
	isOrphan                   // nobody controls it, and its name and labels fit
	isLost                     // the set controls it, but its name or labels do not fit any more
)

// belongs says whose the pod is; fits is true if its name and labels are those of
// a member.
func (p *planner) belongs(pod *corev1.Pod, fits bool) belonging {
	controller := metav1.GetControllerOfNoCopy(pod)
	switch {
	case controller != nil && controller.UID != p.Set.UID:
		return isForeign
	case controller != nil && fits:
		return isOurs
	case controller != nil:
		return isLost
	case fits && !isTerminating(pod) && p.Set.DeletionTimestamp == nil:
		return isOrphan
	default:
		return isForeign
	}
}

// keepMembership plans the adoptions and releases that sorting the pods found due.
// It reports whether pods are adopted: an adopted pod is another version of itself,
// on which nothing else can be decided before it has been seen.
func (p *planner) keepMembership() (adopted bool) {
	var actions []Action
	for _, m := range p.adopt {
		actions = append(actions, AdoptPod{Ordinal: m.ordinal, Pod: exact(m.pod)})
	}
	for _, pod := range p.release {
		actions = append(actions, ReleasePod{Pod: pod})
	}
	p.together(actions)
	return len(p.adopt) > 0
}
