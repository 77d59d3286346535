// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package outcome judges a StatefulSet by what its user sees: whether a disk still exists, how many
// members serve, whether an approval was requested. It knows the promises of the documentation and
// the API types. It does not know the code that keeps the promises: neither how the controller
// plans, nor which objects it writes meanwhile.
//
// A test shows a [Judge] every change of the cluster, with its actor, and every sync of the
// controller. The judge reports each broken promise once, with the name of its oracle.
//
// An oracle that cannot decide reports nothing: a promise counts as broken only if no reading of
// the documentation allows what happened.
package outcome
