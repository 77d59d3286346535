// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "fmt"

// reason says why something is not done yet: a word for programs and a sentence
// for people.
type reason struct {
	word    string
	message string
}

// warn notes what somebody should know.
func (p *planner) warn(reason, format string, args ...any) {
	p.warnings = append(p.warnings, Warning{reason, fmt.Sprintf(format, args...)})
}

// wait notes what the set waits for; the first note stands.
func (p *planner) wait(word, format string, args ...any) {
	if p.waiting == nil {
		p.waiting = &reason{word, fmt.Sprintf(format, args...)}
	}
}

// waitingFor says what keeps the set from more, empty if nothing does.
func (p *planner) waitingFor() string {
	if why := first(p.stalled, p.waiting); why != nil {
		return why.message
	}
	return ""
}

// blocked notes what somebody has to do before the set can go on; the first note
// stands.
func (p *planner) blocked(word, format string, args ...any) {
	if p.stalled == nil {
		p.stalled = &reason{word, fmt.Sprintf(format, args...)}
	}
}
