// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// verb is one way to write to the host cluster.
type verb string

const (
	create   verb = "create"
	update   verb = "update"
	deletion verb = "delete"
)

// These are the forms of a verb in errors, in messages, and in the reasons of events.
func (v verb) doing() string  { return strings.TrimSuffix(string(v), "e") + "ing" }
func (v verb) done() string   { return v.reason() + "d" }
func (v verb) reason() string { return strings.ToUpper(string(v[:1])) + string(v[1:]) }

// asBudgetsAllow is the verb of a write to which disruption budgets apply.
func (v verb) asBudgetsAllow() string {
	if v == deletion {
		return "evict"
	}
	return string(v)
}

// tellSuccess records the event of a write that succeeded.
func (e *execution) tellSuccess(verb verb, what subject) {
	e.note(corev1.EventTypeNormal, "Successful"+verb.reason(), verb.done()+" ", what, "")
}

// note records an event: the text, then the subject and its set, then the rest.
func (e *execution) note(kind, reason, text string, what subject, rest string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done.events = append(e.done.events, event{kind: kind, reason: reason, text: text + what.part,
		objectKind: what.kind, object: what.name, rest: what.why + " of set " + e.set.Name + rest})
}

// subject is what a write is about, as errors and events call it: an object or a part of it, and
// the reason for the write.
type subject struct{ part, kind, name, why string }

func (s subject) String() string { return fmt.Sprintf("%s%s %q%s", s.part, s.kind, s.name, s.why) }
