// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package harness is what the suites on a local cluster share: the cluster and the
// clients for it, sets and namespaces to work with, waiting, and the differences that
// are explained.
//
//	cluster, err := harness.Open()           // the one named by STATEFULSET_CLUSTER_DIR
//	err = cluster.WarmUp(ctx)                // its controllers know our group
//	ns := cluster.Namespace(t, "e2e")        // goes when the test has ended
//	harness.Eventually(t, "it is so", check) // or the test fails with what check said last
//
// hack/test-on-cluster.sh starts a cluster and runs a suite on it. Suites that start, stop
// and kill what runs there do so with package lab, and with package proxy what goes
// between.
package harness
