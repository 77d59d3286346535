// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Compute says what to do about a world.
func Compute(world World) Plan {
	_, held := v1.Held(world.Set)
	p := &planner{World: world, held: held, ordered: world.Set.Spec.PodManagementPolicy != v1.ParallelPodManagement,
		claims: make(map[string]*corev1.PersistentVolumeClaim, len(world.Claims))}
	for _, claim := range world.Claims {
		p.claims[claim.Name] = claim
	}
	selector, err := metav1.LabelSelectorAsSelector(world.Set.Spec.Selector)
	if err != nil {
		p.blocked(v1.ReasonInvalidSelector, "spec.selector cannot be used: %s", foreignText(err.Error()))
		selector = labels.Nothing()
	}
	p.sortMembers(selector)
	p.findRevisions(selector)
	p.freezeRevisions()
	p.decide()
	status := p.status()
	return Plan{
		Steps: p.steps, History: p.surplusHistory, Warnings: p.warnings, Status: status, LookAgain: p.nextLook(), Waiting: p.waitingFor(),
		Unavailable: p.wanted - p.available, MaxUnavailable: p.maxUnavailable(),
	}
}

// decide applies the rules in order. A rule that returns false has found
// something that later rules must wait for.
func (p *planner) decide() {
	if !p.mayAct() || p.keepRevisions() || p.keepMembership() {
		return
	}
	for _, rule := range []func() bool{p.recreate, p.bringUp, p.scaleDown, p.rollOut} {
		if !rule() {
			break
		}
	}
	p.together(p.pool)
	p.surplusHistory = p.truncateHistory()
}

// planner is one computation under way.
type planner struct {
	World
	// ordered is true for a set whose members wait for each other.
	ordered bool
	// held is true for a set for which nothing is done.
	held bool
	// frozen is true if it cannot be said yet which revisions are the set's, so that
	// its status keeps those that it names.
	frozen bool
	// awaiting is a revision that somebody else has to give up before anything can be
	// decided, nil if there is none.
	awaiting *appsv1.ControllerRevision
	// roster are the ordinals of the members that the user asks for, and wanted is their
	// number. members are those of them that have a pod, and the first of those that do
	// not, in ascending order; condemned are the pods that are not wanted, in descending
	// order.
	roster    identity.Ordinals
	wanted    int
	members   []member
	condemned []member
	// available is the number of wanted members that serve somebody, carried that of the
	// set's pods by the revision that they run.
	available int
	carried   map[string]int
	claims    map[string]*corev1.PersistentVolumeClaim
	// name is where the name of a claim is put together to look it up.
	name []byte

	history         revisions
	current, update *revision
	collisions      int32

	adopt   []member
	release []Target
	// repairing is true if pods are relabelled. Nothing else can be decided on them
	// before that has been seen.
	repairing bool

	steps []Step
	// pool is the one step in which a parallel set does everything for its members.
	pool Step
	// surplusHistory removes revisions that nobody needs any more.
	surplusHistory Step

	// replaced is how many pods of the current revision the plan removes for an
	// update.
	replaced int32

	warnings    []Warning
	waiting     *reason
	stalled     *reason
	progressing *v1.StatefulSetCondition
	// deadlineIn is how long it takes until the set's progress is overdue, zero if it
	// cannot become so.
	deadlineIn time.Duration
}

// act plans actions for members. In an ordered set each has to succeed before the
// next begins; in a parallel one all are done at the same time.
func (p *planner) act(actions ...Action) {
	if !p.ordered {
		p.pool = append(p.pool, actions...)
		return
	}
	for _, action := range actions {
		p.together([]Action{action})
	}
}

// together plans a step of its own, of actions that need nothing of each other.
func (p *planner) together(actions []Action) {
	if len(actions) > 0 {
		p.steps = append(p.steps, actions)
	}
}
