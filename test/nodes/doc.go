// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodes plays what only real nodes show on three of them, with sets of ours and
// built-in ones: processes that are not ready, that take time to end, that lose their node.
// Our server is installed from the manifests, as a Deployment.
//
//	suite_test.go    the cluster, the two kinds, and the table
//	sets_test.go     sets of both kinds, and what is asked of their members
//	order_test.go    readiness, minReadySeconds, preStop and grace periods
//	probe_test.go    readiness by gRPC, of a program of somebody else
//	unblock_test.go  mistakes in a template that keep an update from starting
//	service_test.go  names of members while serviceName changes
//	holes_test.go    autoscalers and budgets of sets with reserved ordinals
//	loss_test.go     nodes that are lost, evictions, and a server that is killed
//	kubectl_test.go  the verbs of kubectl that need a kubelet
package nodes
