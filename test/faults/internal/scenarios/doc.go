// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scenarios holds what the fault suites let a user do to a set, as data.
//
// A scenario is a set and a list of steps. Those of All are written in terms of apps/v1 and
// say nothing about who serves them: the suites play each against our group, and some also
// against the built-in one. Those of Beyond have fields that apps/v1 does not have. Whoever
// plays a scenario
//
//   - takes a namespace for it alone and begins with nothing in it;
//   - carries out the steps one after the other, as the user: each is repeated
//     until it has succeeded, because faults hit the user as well;
//   - plays the node agent all the while: every pod that is not terminating and not
//     finished becomes Running, and Ready unless its image is Unlucky; every terminating
//     one goes (by its UID);
//   - has the garbage collector of a cluster running;
//   - looks at the namespace with Observed, and compares where a run with faults
//     ended with where one without did, with Outcome.
//
// Every scenario ends with a Wait. The set is always called Name.
package scenarios
