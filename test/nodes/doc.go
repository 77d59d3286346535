// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodes plays what only real nodes show on three of them, with sets of ours and
// built-in ones: processes that are not ready, that take time to end, that lose their node.
// Our server is installed from the manifests, as a Deployment.
//
//	suite_test.go       the cluster, the two kinds, and the table
//	sets_test.go        sets of both kinds, and what is asked of their members
//	status_test.go      what a set says, and what happens to its pods
//	agents_test.go      processes beside members that speak to the cluster
//	order_test.go       readiness, minReadySeconds, preStop and grace periods
//	probe_test.go       readiness by gRPC, of a program of somebody else
//	unblock_test.go     mistakes in a template that keep an update from starting
//	service_test.go     names of members while serviceName changes
//	holes_test.go       autoscalers and budgets of sets with reserved ordinals
//	inplace_test.go     containers that are restarted in the pod that is there
//	claims_test.go      disks that come later
//	quota_test.go       disks that grow, and members that come, as far as a quota lets them
//	identity_test.go    names and numbers that members are given
//	examples_test.go    examples as they are in artifacts, and what is asked of them
//	addresses_test.go   members that know at what addresses they are reached
//	priming_test.go     disks that init containers and Jobs prepare
//	secrets_test.go     a Secret and a ConfigMap for each member
//	zookeeper_test.go   a ZooKeeper that grows and shrinks
//	galera_test.go      a Galera that loses a member
//	overrides_test.go   a member on a node of its choice, with a larger disk
//	steps_test.go       steps that sidecars and people let go on, rollbacks, and a server that is killed
//	etcd_test.go        an etcd whose leader is updated last
//	disruption_test.go  evictions, gates that sidecars answer, and protected sets
//	loss_test.go        nodes that are lost, evictions, and a server that is killed
//	lostnode_test.go    members of lost nodes that are given up by hand
//	kubectl_test.go     the verbs of kubectl that need a kubelet
package nodes
