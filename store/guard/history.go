// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strconv"
	"strings"
)

// history has the marks that a store has had. A mark consists of the random name of the server that
// set it and a number. A server increments the number for each mark, and no two processes use the
// same name. So the latest mark of a server stands for all its earlier marks: a copy of a store
// cannot continue the numbers of a server, because a server that runs on the copy has another name.
//
// It is a text, the latest mark first, like "B.7 A.31".
type history string

// longestHistory is how many servers are remembered: about as many as starts.
const longestHistory = 64

// has reports whether the store has had a mark.
func (h history) has(mark string) bool {
	server, number, ok := parseMark(mark)
	if !ok {
		return false
	}
	for latest := range strings.FieldsSeq(string(h)) {
		if by, last, ok := parseMark(latest); ok && by == server {
			return number <= last
		}
	}
	return false
}

// next returns the next mark of a server, and the history with it.
func (h history) next(server string) (string, history) {
	mark := server + ".1"
	marks := []string{""}
	for latest := range strings.FieldsSeq(string(h)) {
		by, last, ok := parseMark(latest)
		switch {
		case ok && by == server:
			mark = fmt.Sprintf("%s.%d", server, last+1)
		case len(marks) < longestHistory:
			marks = append(marks, latest)
		}
	}
	marks[0] = mark
	return mark, history(strings.Join(marks, " "))
}

func parseMark(mark string) (server string, number int64, ok bool) {
	server, digits, ok := strings.Cut(mark, ".")
	number, err := strconv.ParseInt(digits, 10, 64)
	return server, number, ok && err == nil
}
