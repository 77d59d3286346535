// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package differential plays the scenarios in scenarios/ on two workloads at once,
// in two namespaces of one cluster: the StatefulSet that Kubernetes has built in, and
// ours. After every command it lets both come to rest and compares all that they have
// done. What may differ, and why, is in differences.yaml; anything else is a failure,
// and so is a difference that does not occur any more. Then all is played again with sets
// of ours that have fields of ours which have nothing to do.
//
// The scenarios need a cluster that bin/cluster has started and registered the server
// with; make test-differential provides one. STATEFULSET_CLUSTER_DIR names its
// directory. The tests of the files themselves need none.
package differential
