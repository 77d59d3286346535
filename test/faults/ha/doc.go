// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ha runs replicas of the server on one etcd of three members, and kills,
// stops, freezes and drains them. Its tests carry the build tag faults and need a
// local cluster of their own; hack/test-on-cluster.sh provides it.
//
// The replicas take their flags for shutting down from the overlay artifacts/ha, so
// what is measured is what a cluster gets.
package ha
