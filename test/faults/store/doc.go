// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store kills the storage of the server under load, again and again, and
// judges all that clients were told meanwhile. Its tests carry the build tag faults
// and need a local cluster of their own; hack/test-on-cluster.sh provides it.
//
// KILLS sets how often the storage is killed, or cut, in each test. By default each
// test does so as often as its time allows. SEED repeats the choices of an earlier run,
// as far as they are the test's.
package store
