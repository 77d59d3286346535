// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package measure evaluates the results of a benchmark run. It measures nothing itself: its input
// are samples, and its output is a table with verdicts.
//
//	run := measure.Run{Results: ...}  // as a run of the benchmarks has collected it
//	run.Save(path)                    // JSON
//	run.Table()                       // a row for each comparison
//	run.Missed(cases)                 // the comparisons that fail the run
//
// # Statistics
//
// All sides of a case take their turns in every round, one after the other, so other load on the
// machine affects neighbours in time equally. Therefore a ratio compares turns of the same round,
// and the table contains the median, the minimum and the maximum of the ratios of all rounds. With
// three to seven rounds, which is what is affordable, a confidence interval would be wider than
// that range and less informative.
package measure
