// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench measures how fast sets are, on a local cluster, beside the built-in
// StatefulSet controller. make bench runs it; docs/policy/performance-log.md tells how it
// measures and what it has found.
//
//	suite_test.go   the run: cases, rounds, sides, and the table at the end
//	cases_test.go   the list of cases, with their targets
//	sides_test.go   who is compared: processes that run in their own turn only
//	earlier_test.go the same server of an earlier commit, in the place of all others
//	turn_test.go    one turn of one side: a namespace, what happens in it, and the time
//	members_test.go the pods of a namespace, with the times at which things were seen
//	audit_test.go   what a side has asked of the host
//	bare_test.go    a client that does nothing but what must be done: the limit
//	measure/        pure: samples to spreads, ratios, verdicts and the table
//	page/           writes a run into docs/policy/performance-log.md
//
// A case is a function of a turn in cases_*_test.go, and a row in cases_test.go.
package bench
