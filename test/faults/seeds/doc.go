// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package seeds proves that the simulator and the outcome oracles find bugs: it builds
// the simulator, or the planner's random sequences, with one bug after the other in the
// controller, and demands that it fails.
//
// A bug is a file in bugs/: one sentence that says what is wrong, the file that it is
// in, and after a line "----" each, the exact text to replace and what to replace it
// with, once or more often. A third line such as "outcomes: disks" names a theme of the random sequences of
// controller/plan: then an outcome oracle has to find the bug, and not the simulator. A bug that
// cannot be applied, or does not compile, fails the run: it says nothing about the simulator. One that
// cannot do harm begins with "harmless: " and says why; it is not counted.
//
//	SEEDED_BUGS=all go test ./test/faults/seeds -v -timeout 30m
//	SEEDED_BUGS=outcomes go test ./test/faults/seeds -v -timeout 30m
//	SEEDED_BUGS=forget-own-writes go test ./test/faults/seeds -v
//
// Without SEEDED_BUGS it is only checked that every bug applies to its file.
package seeds
