// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scenarios contains what a user does to a set in the fault suites, as data.
//
// A scenario is a set and a list of steps. The scenarios of All use only apps/v1 and do not depend
// on the server: the suites play each with our group, and some also with the built-in one. The
// scenarios of Beyond have fields that apps/v1 does not have. A suite that plays a scenario
//
//   - uses a separate, empty namespace for it;
//   - carries out the steps one after the other, as the user. It repeats each step until it
//     succeeds, because faults affect the user as well;
//   - acts as the node agent during the whole run: every pod that is not terminating and not
//     finished becomes Running, and Ready unless its image is Unlucky. Every terminating pod is
//     removed (by its UID);
//   - runs the garbage collector of a cluster;
//   - reads the namespace with Observed, and compares the results of runs with and without
//     faults, with Outcome.
//
// Every scenario ends with a Wait. The name of the set is always Name.
package scenarios
