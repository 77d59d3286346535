// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sim runs the whole controller, with its real clients and informers, in a simulated
// cluster in which everything can fail, and judges every write of the controller.
//
// One run plays one of the scenarios of package scenarios in a bubble of testing/synctest: time
// passes only when everything waits. The world (world_test.go) lets one thing happen after the
// other: a server carries out a request, a replica receives a response or an event, or the user,
// the node agent or the garbage collector does something. Between two of these events, everything
// runs until it waits. The servers are those of package model, behind an http.RoundTripper.
//
//	network, stream, replica    how a controller is started, reached and killed
//	agent, collector, user      the other actors in the cluster
//	view, scene                 what a replica can know, from what was sent to it
//	judge, rules_*              what is right; the name of each rule is a sentence
//	crash, stale, errors,
//	refusals, leader, soak      the faults, and how often each is tried
//
// A write is judged by two standards. A decision must be right according to what its replica could
// know when it sent the write: the objects that it had received, and the responses to its own
// writes. And some rules must always hold, regardless of what a replica knew: no member runs twice,
// no claim is deleted that must be kept, every run has the same outcome as the run without faults,
// and then nothing is written for a minute.
//
// The limits: a member that was removed by force, or whose node has failed, may continue to run;
// the simulator makes no statement about it. Two controllers that are active at the same time
// together respect maxUnavailable while they know the same generation.
//
//	go test ./test/faults/sim                          a sample, below a minute
//	SIM=full go test ./test/faults/sim -timeout 60m    everything
//	SEED=1 SEEDS=100000 go test ./test/faults/sim -run TestSoak -timeout 10h
//
// A failure prints its story and the command that repeats it: SIM_RUN names the trial. The seed of
// the trial determines the random decisions, and a fixed seed the jitter of the client library. The
// Go runtime decides two things, the order of goroutines that are ready at the same time and its
// random selects, so it may take a few attempts to reproduce a story.
//
// Package seeds injects bugs into the controller and requires that this package finds them; package
// conformance compares the model with a kube-apiserver.
package sim
