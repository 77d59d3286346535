// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the tests that see the whole product as a user does: a real
// control plane, the server behind its aggregator, kubectl and client-go. They
// need a cluster that bin/cluster has started and registered the server with; make
// test-e2e provides one. STATEFULSET_CLUSTER_DIR names its directory.
package e2e
