// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/test/outcome"
)

// trouble carries out the commands that make a run unfair, and "converge", which
// makes it fair again and says whether the set comes to rest.
//
// "evict" ends a pod as the collector of pods on lost nodes does, with its
// conditions left as they were; "orphanrevisions" is what an orphaning deletion of an
// earlier set does to revisions; "bind" happens to claims, and "grown", "nodepending" and
// "infeasible" to those that are to grow; "stealclaim" gives a claim
// another controller; "newset" puts a new set of the same name in the place of a
// deleted one; "gc" lets the garbage collector work; "stale pods 2" computes and
// carries out a plan of a world whose pods (claims, revisions, all) are as they
// were 2 commands ago; "crash 3" computes a plan and dies after 3 writes; "remove 1" is the
// removal of one member from a set at rest.
func (s *stage) trouble(name string, args []string) {
	switch name {
	case "evict":
		s.eachPod(args, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
	case "orphanrevisions":
		for _, revision := range slices.Collect(maps.Values(s.revisions)) {
			replace(s.host, s.revisions, revision, func(revision *appsv1.ControllerRevision) { revision.OwnerReferences = nil })
		}
	case "bind":
		s.each(args, func(claim string) {
			s.changeClaim(claim, func(claim *corev1.PersistentVolumeClaim) {
				claim.Status.Phase, claim.Status.Capacity = corev1.ClaimBound, claim.Spec.Resources.Requests
				claim.Status.CurrentVolumeAttributesClassName = claim.Spec.VolumeAttributesClassName
			})
		})
	case "grown", "nodepending", "infeasible", "nodeinfeasible":
		s.each(args, func(claim string) { s.resize(claim, name) })
	case "rival":
		s.rivals = map[string]string{args[0]: args[1]}
	case "norival":
		s.rivals = nil
	case "stealclaim":
		s.each(args, func(claim string) {
			s.changeClaim(claim, func(claim *corev1.PersistentVolumeClaim) {
				claim.OwnerReferences = append(slices.Clone(claim.OwnerReferences), stranger())
			})
		})
	case "newset":
		s.replaceSet()
	case "gc":
		s.happened(s.collect())
	case "stale":
		s.lookBack(args[0], s.number(args[1]))
	case "crash":
		s.crash(s.number(args[0]))
	case "converge":
		s.converge(len(args) > 0 && args[0] == "slowly")
	case "remove":
		s.remove(s.number(args[0]))
	default:
		if !s.befall(name, args) {
			s.t.Fatalf("unknown command %q", name)
		}
	}
}

func (s *stage) happened(what []string) (any bool) {
	for _, line := range what {
		fmt.Fprintf(&s.log, "> %s\n", line)
	}
	if len(what) > 0 {
		s.noticed(outcome.Cluster)
	}
	return len(what) > 0
}

func (s *stage) lookBack(kind string, ago int) {
	s.outdated = kind
	defer func() { s.outdated = "" }()
	p, done, failed := s.lookAt(s.staleWorld(kind, ago), func(act action.Action, _ error) {
		fmt.Fprintf(&s.log, "  OUTDATED %s\n", act)
	})
	s.report(p, done, failed)
}

func (s *stage) crash(writes int) {
	s.writesLeft = writes
	_, done, failed := s.look()
	s.writesLeft = -1
	for _, act := range done {
		fmt.Fprintf(&s.log, "  %s\n", act)
	}
	for _, failure := range failed {
		fmt.Fprintf(&s.log, "  FAILED %s\n", failure.Action)
	}
}

// mostLooks is more than the looks that the longest way to the desired state of
// the sets in these tests needs.
const mostLooks = 240

// converge plays a willing host: everything that can happen without the user
// happens, and time passes when the planner waits for nothing else. It fails the
// test unless the planner comes to rest in the desired state. A host that works
// slowly lets the planner look three times before anything happens.
func (s *stage) converge(slowly bool) {
	for i := range mostLooks {
		before := s.set.Status
		p, done, failed := s.look()
		s.report(p, done, failed)
		acted := len(done)+len(failed) > 0 || !apiequality.Semantic.DeepEqual(before, s.set.Status)
		if slowly && i%3 > 0 {
			continue
		}
		acted = s.happened(s.kubelet()) || acted
		acted = s.happened(s.collect()) || acted
		acted = s.happened(s.provision()) || acted
		acted = s.happened(s.collectObjects()) || acted
		acted = s.happened(s.answers()) || acted
		acted = acted || s.happened(s.check())
		if !acted && p.RequeueAfter > 0 {
			acted = true
			s.now = s.now.Add(p.RequeueAfter)
			fmt.Fprintf(&s.log, "> wait %s\n", p.RequeueAfter)
		}
		if !acted {
			s.expectRest()
			return
		}
	}
	s.t.Fatalf("[converge] the planner does not come to rest within %d looks", mostLooks)
}

// pace is how fast the host of a fair run works.
func pace(n int) []string {
	if n%2 == 1 {
		return []string{"slowly"}
	}
	return nil
}

// kubelet removes what is terminating and starts what is not finished and has its
// claims. It does not tell the pods of the set from others.
func (s *stage) kubelet() (acted []string) {
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		pod := s.pods[name]
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if more, done := s.unkind(name); done {
			acted = append(acted, more...)
			continue
		}
		switch {
		case pod.DeletionTimestamp != nil:
			s.gone(name)
			acted = append(acted, "gone "+name)
		case s.restartable(name):
			s.restart(name, false)
			acted = append(acted, "restart "+name)
		case s.resizable(name):
			acted = append(acted, s.resizeOrNot(name))
		case pod.Status.Phase == corev1.PodRunning && pod.Status.ObservedGeneration < pod.Generation:
			s.changePod(name, func(pod *corev1.Pod) { pod.Status.ObservedGeneration = pod.Generation })
			acted = append(acted, "observe "+name)
		case !ended && s.canRun(pod) && (pod.Status.Phase != corev1.PodRunning || !s.isContent(pod)):
			s.ready(name, corev1.ConditionTrue)
			acted = append(acted, "ready "+name)
		}
	}
	return acted
}

// expectRest checks the end of a fair run: nothing left to do, a status that stays
// as it is, and a world as the user wants it or a reason why not.
func (s *stage) expectRest() {
	before := s.set.Status.DeepCopy()
	world := s.world()
	if p, _, _ := s.look(); len(p.All()) > 0 || !apiequality.Semantic.DeepEqual(*before, s.set.Status) {
		s.t.Fatalf("[converge] a world at rest gets the plan %v and the status\n%v\nafter\n%v", p.All(), s.set.Status, *before)
	}
	if s.set.DeletionTimestamp != nil {
		return
	}
	ready, stalled := s.conditionNow(v1.StatefulSetReady), s.conditionNow(v1.StatefulSetStalled)
	if taken := blockers(world); len(taken) > 0 {
		if ready.Status != corev1.ConditionFalse || stalled.Status != corev1.ConditionTrue || stalled.Reason == "" || stalled.Message == "" {
			s.t.Fatalf("[converge] the names %v are taken, and the set says %v and %v", taken, ready, stalled)
		}
		return
	}
	if ready.Status != corev1.ConditionTrue || stalled.Status != corev1.ConditionFalse {
		s.t.Fatalf("[converge] nothing is in the way, and the set says %v and %v", ready, stalled)
	}
	if lacks := shortcomings(world); len(lacks) > 0 {
		s.t.Fatalf("[converge] the planner rests although %s", strings.Join(lacks, ", "))
	}
}

func (h *host) conditionNow(kind v1.StatefulSetConditionType) v1.StatefulSetCondition {
	for _, condition := range h.set.Status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return v1.StatefulSetCondition{}
}

// blockers are the pods that have the name of a wanted member and are not the set's.
func blockers(world World) (names []string) {
	f := gather(world)
	for _, ordinal := range f.ordinals {
		if pod := f.pods[f.podName(ordinal)]; pod != nil && !f.mine(pod) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// shortcomings say what is not as the user wants it in a world at rest.
func shortcomings(world World) (lacks []string) {
	f := gather(world)
	lack := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }
	for _, ordinal := range f.ordinals {
		if pod := f.member(ordinal); pod != nil && f.isMistold(pod) {
			lack("pod %s has %q for REPLICAS", pod.Name, pod.Annotations[v1.ReplicasAnnotation])
		}
		for i := range world.Set.Spec.VolumeClaimTemplates {
			name := f.claimName(world.Set.Spec.VolumeClaimTemplates[i].Name, ordinal)
			claim := f.claims[name]
			if claim == nil {
				lack("claim %s is missing", name)
				continue
			}
			if f.lacksNote(claim, f.member(ordinal)) {
				lack("claim %s does not say whose it is: %v", name, claim.Annotations)
			}
			// A claim that goes as soon as its pod does keeps the owners that it had.
			if got, want := ownersOf(f, claim), f.wantedOwners(claim, nil); claim.DeletionTimestamp == nil && !slices.Equal(got, want) {
				lack("claim %s is owned by %v, not %v", name, got, want)
			}
		}
	}
	for _, pod := range world.Pods {
		if f.mine(pod) && metav1.GetControllerOfNoCopy(pod) == nil {
			lack("pod %s has no controller", pod.Name)
		}
	}
	for _, pod := range world.Pods {
		if _, asked := askedOf(pod); asked && f.mine(pod) {
			lack("pod %s is asked about: %v", pod.Name, pod.Annotations)
		}
	}
	dead := 0
	for _, revision := range world.Revisions {
		if !isAnchor(revision) {
			dead++
		}
	}
	for name := range f.liveRevisions() {
		if f.revisions[name] != nil {
			dead--
		}
	}
	if limit := int(*world.Set.Spec.RevisionHistoryLimit); dead > limit {
		lack("%d revisions that nobody runs are kept, more than %d", dead, limit)
	}
	return append(lacks, f.notDesired()...)
}
