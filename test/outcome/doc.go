// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package outcome judges a StatefulSet by what its user sees: whether a disk is still there, how many
// members serve, whether an approval was asked for. It knows the promises of the documentation and
// the API types. It knows nothing of the code that keeps the promises: not how the controller plans,
// nor which objects it writes on the way.
//
// A test shows a [Judge] every change of the cluster, with who made it, and every sync of the
// controller. The judge reports each broken promise once, by the name of its oracle.
//
// An oracle that cannot tell says nothing: a promise counts as broken only if no reading of the
// documentation allows what happened.
package outcome
