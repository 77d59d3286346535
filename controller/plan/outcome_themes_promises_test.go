// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

// The themes of what is promised of each change: how many members it takes at a time, in which order, and
// when.
var (
	boundedChanges = aboutPromises([]string{"maxUnavailable"}, "maxUnavailable", "next", "next", "parallel", "gates", "answer", "replace",
		"inPlace", "drain", "sicken", "work", "round", "many")
	orderedUpdates = aboutPromises([]string{"direction", "first", "last", "policy"}, "lead", "lead", "follow", "direction", "first", "first",
		"last", "last", "canary", "canary", "next", "maxUnavailable", "parallel", "round", "work", "sicken", "cure", "many", "rest")
	replacedMembers = aboutPromises(nil, "replace", "replace", "replace", "round", "work", "next", "sicken", "cure", "kill", "hold", "unhold",
		"strategy", "parallel", "fewer", "many", "gates", "answer")
	orderedScaleIns = aboutPromises([]string{"policy"}, "ordered", "fewer", "fewer", "many", "rate", "reserved", "start", "sicken", "cure",
		"hang", "round", "work")
)

// aboutPromises is a theme whose events make up half of its sequences.
func aboutPromises(fields []string, events ...string) theme {
	return aboutLiveness(fields, events...)
}
