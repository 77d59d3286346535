// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard takes the store away from a real server while its members live in a real cluster,
// in every way in which it can be lost, and lets the real garbage collector run: no pod and no
// claim may be deleted before an operator has decided.
//
// GUARD_SURVIVE is how long members must survive on an empty store (default five minutes).
// GUARD_TRIALS is how often a store is replaced under a server with open watches (default 500
// times).
package guard
