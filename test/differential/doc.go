// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package differential plays the scenarios in scenarios/ on two workloads at the same time, in two
// namespaces of one cluster: the StatefulSet that is built into Kubernetes, and the one of this
// project. After every command it waits until both are idle, and compares everything that they have
// done. differences.yaml lists what may differ, and why. Any other difference is a failure, and so
// is a listed difference that no longer occurs. Then everything is played again with sets that have
// fields which apps/v1 does not have, with values that have no effect.
//
// The scenarios need a cluster that bin/cluster has started, with the server registered; make
// test-differential provides one. STATEFULSET_CLUSTER_DIR is its directory. The tests of the files
// themselves need no cluster.
package differential
