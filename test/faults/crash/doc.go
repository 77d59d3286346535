// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crash injects faults into real controllers, ours and the built-in one, while they carry
// out the scenarios, and checks that they keep their promises.
//
// The controllers are processes on a real kube-apiserver and etcd. Each scenario is played in its
// own namespace (play_test.go), with a node agent of the suite instead of a kubelet
// (agent_test.go). Everything that happens there is recorded (world_test.go, history_test.go):
// objects in the host cluster by watches that resume, our sets by a watch of their etcd, which no
// fault interrupts. The oracles (oracles_test.go, order_test.go, turns_test.go; judges_test.go
// tests them) judge by these records and by the audit log of the cluster, and never by what a
// controller reports itself. A run has converged when it has the same outcome as a run without
// faults, and nothing is written any more.
//
// Each fault has its own test:
//
//   - TestCrashAroundEveryWrite: the process is killed at every write to the host cluster, and
//     ours also at every write of a set to its store: before the write is sent, when it is
//     committed but not answered, and when it is answered. The store's writes are those of the
//     controller's status and those of the user.
//   - TestSeveralControllers: two, then three controllers are active at the same time.
//   - TestPausedLeader: the leader is stopped beyond its lease, with writes in flight.
//   - TestAPIErrors: the cluster fails 1, 5, 20 and 50 % of the requests for objects of sets.
//   - TestHostUnreachable: the network between our server and the cluster fails, in either
//     direction.
//   - TestASetThatEndsItsServerIsSetAside: a set whose evaluation ends the process that
//     evaluates it.
//   - TestStaleKubeAPIServer: our server uses a second kube-apiserver that serves stale data.
//
// To run a single test:
//
//	hack/test-on-cluster.sh faults/crash -test.run=TestAPIErrorsOurs
//
// FAULTS_SEEDS is the number of seeds that TestSeveralControllers plays (8), FAULTS_PAUSES how
// often TestPausedLeader stops a leader (30), FAULTS_SCENARIOS the number of scenarios that every
// test plays (all), and FAULTS_NAMED a part of their names. With -test.short, only
// TestCrashAroundEveryWriteOurs runs, with four scenarios. With FAULTS_TABLE, each test appends its
// row to that file. collector_test.go lists failures that are not the controller's fault.
package crash
