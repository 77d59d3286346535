// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard takes the store away from a real server while its members live in
// a real cluster, in every way that it can be lost, and lets the real garbage
// collector look: no pod and no claim may go before an operator has decided.
//
// GUARD_SURVIVE is how long members must survive on an empty store, five minutes
// unless it is set. GUARD_TRIALS is how often a store is exchanged under a server with
// open watches, 500 times unless it is set.
package guard
