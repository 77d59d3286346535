// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodes tests on three real nodes what only real nodes can show, with our sets and built-in
// ones: processes that are not ready, that need time to end, that lose their node. Our server is
// installed from the manifests, as a Deployment.
//
//	suite_test.go       the cluster, the two kinds, and the table
//	sets_test.go        sets of both kinds, and requests to their members
//	status_test.go      the status of a set, and what happens to its pods
//	agents_test.go      processes next to members that send requests to the cluster
//	order_test.go       readiness, minReadySeconds, preStop and grace periods
//	probe_test.go       readiness by gRPC, of a third-party program
//	unblock_test.go     mistakes in a template that prevent an update from starting
//	service_test.go     names of members while serviceName changes
//	holes_test.go       autoscalers and budgets of sets with reserved ordinals
//	inplace_test.go     containers that are restarted in the existing pod
//	claims_test.go      disks that are added later
//	quota_test.go       disks that grow, and new members, as far as a quota allows
//	identity_test.go    names and numbers that are injected into members
//	examples_test.go    the examples in artifacts, and requests to them
//	addresses_test.go   members that know their own external addresses
//	priming_test.go     disks that init containers and Jobs prepare
//	secrets_test.go     a Secret and a ConfigMap for each member
//	zookeeper_test.go   a ZooKeeper that grows and shrinks
//	galera_test.go      a Galera that loses a member
//	overrides_test.go   a member on a specific node, with a larger disk
//	steps_test.go       steps that sidecars and people promote, rollbacks, and a killed server
//	etcd_test.go        an etcd whose leader is updated last
//	disruption_test.go  evictions, gates that sidecars answer, and protected sets
//	loss_test.go        lost nodes, evictions, and a killed server
//	lostnode_test.go    members of lost nodes that a person gives up
//	kubectl_test.go     the verbs of kubectl that need a kubelet
package nodes
