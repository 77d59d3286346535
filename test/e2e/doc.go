// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e contains the tests that use the whole product like a user: a real control plane, the
// server behind its aggregator, kubectl and client-go. They need a cluster that bin/cluster has
// started, with the server registered; make test-e2e provides one. STATEFULSET_CLUSTER_DIR is its
// directory.
package e2e
