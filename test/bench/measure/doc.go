// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package measure is what a run of the benchmarks has found, and what it means. It
// measures nothing itself: samples go in, and a table with verdicts comes out.
//
//	run := measure.Run{Results: ...}  // as a run of the benchmarks has collected it
//	run.Save(path)                    // JSON
//	run.Table()                       // a row for each comparison
//	run.Missed(cases)                 // the comparisons that fail the run
//
// # Statistics
//
// All sides of a case take their turns in every round, one after the other, so what
// the machine does besides is shared by neighbours in time. A ratio is therefore taken
// within a round, and of the ratios of all rounds the median, the least and the
// greatest are told. With the three to seven rounds that are affordable, an interval
// of confidence would be wider than that range and say less.
package measure
