// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store kills the storage of the server under load, again and again, and judges all
// responses that clients got meanwhile. Its tests have the build tag faults and need their own
// local cluster; hack/test-on-cluster.sh provides it.
//
// KILLS sets how often the storage is killed, or disconnected, in each test. By default each test
// does so as often as its time allows. SEED repeats the random choices of an earlier run, as far as
// the test makes them.
package store
