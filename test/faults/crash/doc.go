// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crash does harm to real controllers, ours and the built-in one, while they
// carry out the scenarios, and looks for promises that they break.
//
// The controllers are processes on a real kube-apiserver and etcd. A scenario is played
// in a namespace of its own (play_test.go), with a node agent of the suite in the place
// of a kubelet (agent_test.go). All that happens there is recorded (world_test.go,
// history_test.go): what is in the host by watches that resume, our sets by a watch of
// their etcd, which no fault breaks. The oracles (oracles_test.go, order_test.go,
// turns_test.go; judges_test.go tries them) judge by these records and by the host's audit
// log, and never by what a controller says of itself. A run has converged when it has ended
// like one without faults, and nothing is written any more.
//
// Each fault is a test of its own:
//
//   - TestCrashAroundEveryWrite: the process is killed at every write to the host, and
//     ours also at every write of a set to its store, before the write is sent, when it
//     is committed and not answered, and when it is answered. The store's writes are
//     those of the controller's status and those of the user.
//   - TestSeveralControllers: two, then three control at the same time.
//   - TestPausedLeader: the leader is stopped beyond its lease, with writes on their way.
//   - TestAPIErrors: the host fails 1, 5, 20 and 50 % of the requests for objects of sets.
//   - TestHostUnreachable: our server and the host lose each other, in either direction.
//   - TestASetThatEndsItsServerIsSetAside: a set whose evaluation ends the process that evaluates it.
//   - TestStaleKubeAPIServer: our server is on a second kube-apiserver that shows the past.
//
// One alone is run by
//
//	hack/test-on-cluster.sh faults/crash -test.run=TestAPIErrorsOurs
//
// FAULTS_SEEDS is how many seeds TestSeveralControllers plays (8), FAULTS_PAUSES how often
// TestPausedLeader stops a leader (30), FAULTS_SCENARIOS how many scenarios every test plays
// (all), and FAULTS_NAMED a part of their names. With -test.short there is
// TestCrashAroundEveryWriteOurs alone, with four scenarios. With FAULTS_TABLE each test
// appends its row to that file. What is known to break without a fault of the controller is
// in collector_test.go.
package crash
