// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
)

// draft is what is decided, as far as the rules have come.
type draft struct {
	// reads is what reads the templates of members that are not at the present one.
	reads *reader
	// ordered is true if actions for members wait for each other.
	ordered bool
	steps   []Step
	// pool is the one step in which a parallel set does everything for its members.
	pool Step
	// history removes revisions that nobody needs any more.
	history Step

	// repairing is true if pods are relabelled. Nothing else can be decided on them
	// before that has been seen.
	repairing bool
	// replaced is how many pods of the current revision are removed for an update.
	replaced int32

	warnings []Warning
	// waiting says what the set waits for, stalled what somebody has to do before it can
	// go on.
	waiting string
	stalled *reason
	// progressing is the condition Progressing, nil if it is what openWork makes of it.
	progressing *v1.StatefulSetCondition
}

// reason is a word for programs and a sentence for people.
type reason struct {
	word    string
	message string
}

// act plans actions for members. In an ordered set each has to succeed before the
// next begins; in a parallel one all are done at the same time.
func (d *draft) act(actions ...Action) {
	if !d.ordered {
		d.pool = append(d.pool, actions...)
		return
	}
	for _, action := range actions {
		d.together([]Action{action})
	}
}

// together plans a step of its own, of actions that need nothing of each other.
func (d *draft) together(actions []Action) {
	if len(actions) > 0 {
		d.steps = append(d.steps, actions)
	}
}

// warn notes what somebody should know.
func (d *draft) warn(reason, format string, args ...any) {
	d.warnings = append(d.warnings, Warning{reason, fmt.Sprintf(format, args...)})
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
