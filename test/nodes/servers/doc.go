// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package servers ends servers of ours that run as pods, and takes the store from them, on
// three real nodes with the usual installation: three servers and three members of their
// store. The suites ha and guard below test/faults do more of that with processes; here are
// the kubelet, the Service, the disruption budget and the disks that users have.
//
//	suite_test.go    the cluster, and a set whose members come back again and again
//	process_test.go  servers, and the processes that they are
//	audit_test.go    what a server has written, by the host's audit log
//	leader_test.go   the leader is killed, stopped and frozen
//	drain_test.go    servers are replaced, and a node is drained, under load
//	store_test.go    all disks of the store are lost, and an older copy is restored
//
// Its tests carry the build tag nodes; hack/test-nodes.sh runs them.
package servers
