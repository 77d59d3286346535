// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
	"statefulset.dev/identity/conditions"
)

// draft is what is decided, as far as the rules have come.
type draft struct {
	// reads is what reads the templates of members that are not at the present one.
	reads *reader
	// pods builds the pods of members.
	pods *identity.PodMaker
	// first, chains and aside are those of the plan.
	first  action.Chain
	chains []action.Chain
	aside  []action.Chain

	// repairing is true if pods are relabelled. Nothing else can be decided on them
	// before that has been seen.
	repairing bool
	// updates is true if the rules have come as far as the update.
	updates bool
	// replaced is how many pods of the current revision are removed for an update.
	replaced int32

	// changed are the claims that are changed after their templates.
	changed map[string]bool

	// owned is how many claims are marked as the set's.
	owned int
	// marked are the claims whose retirement is noted or withdrawn.
	marked map[string]bool

	// kept is how much is done about objects that holds up nothing, drifts is true if somebody is
	// told of one that was changed, and objectWord is the reason if an object is what the set waits
	// for, empty if it waits for something else.
	kept       int
	drifts     bool
	objectWord string
	// compared is how many objects of others were compared with their templates, differs is true if
	// somebody is told of one.
	compared int
	differs  bool

	// purse is what is left of the members that may be unavailable.
	purse purse
	// last is what keeps members that come last, nil as long as nothing has asked for it.
	last *barrier
	// given are the pods whose gates were asked, and that are not removed for now.
	given map[types.UID]bool
	// out are the pods that are being made ready for their update in place.
	out map[types.UID]bool
	// unseen is the pod that is taken from service and that budgets do not know of, empty if there is
	// none, nil if it is not known yet.
	unseen *string
	// atGate is true if a gate has yet to agree.
	atGate bool

	// unblock is the ordinal of the member that the status is to name as the one that is
	// replaced out of turn, nil if none was chosen.
	unblock *int32

	// changes are those that bring pods from one revision to another in place, as far as
	// they have been found out.
	changes map[[3]string]*identity.InPlaceChange
	// rendered says of revisions whether their pods are rendered, as far as that has been found out.
	rendered map[string]bool

	// started is how many members are created.
	started int

	// retry is how long it takes until something may be done that was put off, zero if
	// nothing was.
	retry time.Duration

	warnings []Warning
	// waiting says what the set waits for, stalled what somebody has to do before it can
	// go on.
	waiting string
	stalled *reason
	// progressing is the condition Progressing, nil if it is what openWork makes of it.
	progressing *conditions.Condition
}

// reason is a word for programs and a sentence for people.
type reason struct {
	word    string
	message string
}

// before plans an action that everything else rests on.
func (d *draft) before(act action.Action) { d.first = append(d.first, act) }

// each plans actions that are independent of each other and of all others.
func (d *draft) each(actions ...action.Action) {
	for _, act := range actions {
		d.inOrder(act)
	}
}

// inOrder plans actions each of which is left out if the one before is refused.
func (d *draft) inOrder(actions ...action.Action) {
	if len(actions) > 0 {
		d.chains = append(d.chains, actions)
	}
}

// again sees to it that the set is looked at again after a time.
func (d *draft) again(after time.Duration) { d.retry = soonest(d.retry, after) }

// warn notes what somebody should know.
func (d *draft) warn(reason, format string, args ...any) {
	d.warnings = append(d.warnings, Warning{reason, fmt.Sprintf(format, args...)})
}

// warnOnce is warn, for what holds for many members in the same words.
func (d *draft) warnOnce(reason, format string, args ...any) {
	if w := (Warning{reason, fmt.Sprintf(format, args...)}); !slices.Contains(d.warnings, w) {
		d.warnings = append(d.warnings, w)
	}
}

// wait notes what the set waits for; the first note stands.
func (d *draft) wait(format string, args ...any) {
	if d.waiting == "" {
		d.waiting = fmt.Sprintf(format, args...)
	}
}

// blocked notes what somebody has to do before the set can go on; the first note
// stands.
func (d *draft) blocked(word, format string, args ...any) {
	if d.stalled == nil {
		d.stalled = &reason{word, fmt.Sprintf(format, args...)}
	}
}

// waitingFor says what keeps the set from more, empty if nothing does.
func (d *draft) waitingFor() string {
	if d.stalled != nil {
		return d.stalled.message
	}
	return d.waiting
}
