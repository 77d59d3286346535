// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package servers kills servers that run as pods, and deletes their store, on three real nodes with
// the usual installation: three servers and three members of their store. The suites ha and guard
// below test/faults do more of that with processes; this suite has the kubelet, the Service, the
// disruption budget and the disks that users have.
//
//	suite_test.go    the cluster, and a set whose members are recreated again and again
//	process_test.go  servers, and their processes
//	audit_test.go    the writes of a server, according to the audit log of the cluster
//	leader_test.go   the leader is killed, stopped and frozen
//	drain_test.go    servers are replaced, and a node is drained, under load
//	store_test.go    all disks of the store are lost, and an older copy is restored
//
// Its tests have the build tag nodes; hack/test-nodes.sh runs them.
package servers
