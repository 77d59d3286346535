// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strconv"
	"strings"
)

// history says which marks a store has held. A mark is the random name of the server
// that has set it and a number; a server takes the next number for each, and a name is
// never used by two processes. So the latest mark of a server stands for all before
// it: who copies a store cannot go on with the numbers of a server, because one that
// runs on the copy has a name of its own.
//
// It is a text, the latest mark first, like "B.7 A.31".
type history string

// longestHistory is how many servers are remembered: about as many starts.
const longestHistory = 64

// has reports whether the store held a mark.
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

// next is the mark that a server sets next, and the history with it.
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
