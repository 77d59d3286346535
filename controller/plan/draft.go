// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
	"statefulset.dev/identity/conditions"
)

// draft is what the rules have decided so far.
type draft struct {
	// reads reads the templates of members that are not at the update revision.
	reads *reader
	// pods builds the pods of members.
	pods *identity.PodMaker
	// first, chains and finally are those of the plan.
	first   action.Chain
	chains  []action.Chain
	finally []action.Chain

	// repairing is true if pods are relabelled. Nothing else can be decided about them before that
	// is observed.
	repairing bool
	// replaced is how many pods of the current revision are removed for an update.
	replaced int32

	// changed are the claims that are changed to match their templates.
	changed map[string]bool

	// owned is how many claims are marked as the set's.
	owned int
	// marked are the claims on which the retired-at annotation is set or removed.
	marked map[string]bool

	// kept is how many actions for objects are planned that block nothing else. drifts is true if a
	// warning reports an object that was changed. objectWord is the reason if the set waits for an
	// object, empty if it waits for something else.
	kept       int
	drifts     bool
	objectWord string
	// compared is how many objects that the set does not manage were compared with their templates.
	// differs is true if a warning reports one of them.
	compared int
	differs  bool

	// budget is the disruption budget that is left: how many more members may become unavailable.
	budget disruptionBudget
	// last is the barrier that blocks the members that come last, nil until a rule needs it.
	last *barrier
	// withdrawn are the pods whose requests to gates are withdrawn, because they are not removed
	// for now.
	withdrawn map[types.UID]bool
	// out are the pods that are being prepared for their update in place.
	out map[types.UID]bool
	// unseen is the pod that was taken out of service and that budgets have yet to observe. It is
	// empty if there is none, nil if that is not known yet.
	unseen *string
	// atGate is true if a gate has yet to agree.
	atGate bool

	// unblock is the ordinal of the member that the status must name as the one that is replaced
	// out of turn, nil if none was chosen.
	unblock *int32

	// changes are the changes that bring pods from one revision to another in place, as far as they
	// are known.
	changes map[[3]string]*identity.InPlaceChange
	// rendered records for each revision whether its pods are rendered, as far as that is known.
	rendered map[string]bool

	// started is how many members are created.
	started int

	// retry is the time until something that was put off may be done, zero if nothing was put off.
	retry time.Duration

	warnings []Warning
	// waiting is what the set waits for, stalled what a user has to do before it can continue.
	waiting string
	stalled *reason
	// skips are the reasons why members are not changed, by ordinal. It is nil unless a caller asks
	// for them, because few callers need a text for each member. latest is the last of the texts
	// that became waiting or stalled, or would have if there had been no earlier one.
	skips  map[int]skip
	latest string
	// progressing is the condition Progressing, nil if openWork determines it.
	progressing *conditions.Condition
}

// reason is a word for programs and a message for people.
type reason struct {
	word    string
	message string
}

// addFirst plans an action on which everything else depends.
func (d *draft) addFirst(act action.Action) { d.first = append(d.first, act) }

// add plans actions that are independent of each other and of all others.
func (d *draft) add(actions ...action.Action) {
	for _, act := range actions {
		d.addChain(act)
	}
}

// addChain plans actions, each of which is left out if the one before it is refused.
func (d *draft) addChain(actions ...action.Action) {
	if len(actions) > 0 {
		d.chains = append(d.chains, actions)
	}
}

// requeueAfter requeues the set after a time.
func (d *draft) requeueAfter(after time.Duration) { d.retry = soonest(d.retry, after) }

// warn records what users should know.
func (d *draft) warn(reason, format string, args ...any) {
	d.warnings = append(d.warnings, Warning{reason, fmt.Sprintf(format, args...)})
}

// warnOnce is like warn, for a message that applies to many members in the same words.
func (d *draft) warnOnce(reason, format string, args ...any) {
	if w := (Warning{reason, fmt.Sprintf(format, args...)}); !slices.Contains(d.warnings, w) {
		d.warnings = append(d.warnings, w)
	}
}

// skip is why a rule does not change a member now.
type skip struct {
	why     v1.PlanWhyNot
	message string
}

// explains reports whether rules record why they skip members.
func (d *draft) explains() bool { return d.skips != nil }

// skip records why a rule does not change a member now; the first reason stays.
func (d *draft) skip(m member, why v1.PlanWhyNot, message string) {
	if _, known := d.skips[m.ordinal]; d.explains() && !known {
		d.skips[m.ordinal] = skip{why, message}
	}
}

// wait records what the set waits for; the first message stays.
func (d *draft) wait(format string, args ...any) {
	if d.waiting != "" && !d.explains() {
		return
	}
	d.latest = fmt.Sprintf(format, args...)
	d.waiting = cmp.Or(d.waiting, d.latest)
}

// stall records what a user has to do before the set can continue; the first message stays.
func (d *draft) stall(word, format string, args ...any) {
	if d.stalled != nil && !d.explains() {
		return
	}
	d.latest = fmt.Sprintf(format, args...)
	if d.stalled == nil {
		d.stalled = &reason{word, d.latest}
	}
}

// waitingFor describes what keeps the set from continuing, empty if nothing does.
func (d *draft) waitingFor() string {
	if d.stalled != nil {
		return d.stalled.message
	}
	return d.waiting
}
