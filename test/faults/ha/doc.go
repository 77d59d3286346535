// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ha runs replicas of the server on one etcd of three members, and kills, stops, freezes
// and drains them. Its tests have the build tag faults and need their own local cluster;
// hack/test-on-cluster.sh provides it.
//
// The replicas take their shutdown flags from the overlay artifacts/ha, so the tests measure what a
// cluster gets.
package ha
