// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package seeds proves that the simulator and the outcome oracles find bugs. It builds the
// simulator, or the planner's random sequences, with one bug after the other in the controller, and
// requires that it fails.
//
// A bug is a file in bugs/: a sentence that describes the bug, the file to change, and, each after
// a line "----", the exact text to replace and its replacement, once or several times. A third line
// such as "outcomes: disks" names a theme of the random sequences of controller/plan: then an
// outcome oracle must find the bug, and not the simulator. A bug that cannot be applied, or does
// not compile, fails the run, because it proves nothing about the simulator. A harmless bug begins
// with "harmless: " and the reason; it does not count.
//
//	SEEDED_BUGS=all go test ./test/faults/seeds -v -timeout 30m
//	SEEDED_BUGS=outcomes go test ./test/faults/seeds -v -timeout 30m
//	SEEDED_BUGS=forget-own-writes go test ./test/faults/seeds -v
//
// Without SEEDED_BUGS, the test only checks that every bug applies to its file.
package seeds
