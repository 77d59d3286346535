// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench measures the performance of sets on a local cluster, compared with the built-in
// StatefulSet controller. make bench runs it; docs/policy/performance-log.md describes the method
// and the results.
//
//	suite_test.go   the run: cases, rounds, sides, and the table at the end
//	cases_test.go   the list of cases, with their targets
//	sides_test.go   the compared sides: processes that run only in their own turn
//	earlier_test.go the same server of an earlier commit, instead of all other sides
//	turn_test.go    one turn of one side: a namespace, what happens in it, and the time
//	members_test.go the pods of a namespace, with the times of the observed changes
//	audit_test.go   the requests of a side to the host cluster
//	bare_test.go    a client that does only what is necessary: the limit
//	measure/        pure: samples to spreads, ratios, verdicts and the table
//	page/           writes a run into docs/policy/performance-log.md
//
// A case is a function of a turn in cases_*_test.go, and a row in cases_test.go.
package bench
