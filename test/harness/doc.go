// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package harness is shared by the suites on a local cluster: the cluster and its clients, sets and
// namespaces for tests, waiting, and the explained differences.
//
//	cluster, err := harness.Open()             // the cluster that STATEFULSET_CLUSTER_DIR names
//	err = cluster.WarmUp(ctx)                  // its controllers know our group
//	ns := cluster.Namespace(t, "e2e")          // deleted when the test has ended
//	harness.Eventually(t, "condition", check)  // or the test fails with the last error of check
//
// hack/test-on-cluster.sh starts a cluster and runs a suite on it. Suites that start, stop and kill
// processes of the cluster use package lab, and suites that interfere with the traffic between
// them use package proxy.
package harness
