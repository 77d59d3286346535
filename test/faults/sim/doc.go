// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sim runs the whole controller, with its real clients and informers, in a
// simulated cluster where everything goes wrong, and judges every write that it
// makes.
//
// One run plays one of the scenarios of package scenarios in a bubble of
// testing/synctest: time passes only when everything waits. The world (world_test.go)
// lets one thing happen after the other: a server carries out a request, a replica
// gets an answer or an event, the user, the node agent or the garbage collector does
// something. Between two of these everything runs until it waits. The servers are
// package model, reached through an http.RoundTripper.
//
//	network, stream, replica    how a controller is started, reached and killed
//	agent, collector, user      who else lives in the cluster
//	view, scene                 what a replica can know, from what was sent to it
//	judge, rules_*              what is right; each rule has a sentence for a name
//	crash, stale, errors,
//	refusals, leader, soak      what goes wrong, and how often it is tried
//
// A write is judged by two standards. A decision must be right in what its replica
// could know when it sent the write: what was delivered to it, and what was answered
// to its own writes. And some things must hold in truth, whoever knew what: no member
// runs twice, no claim goes that is to be kept, and every run ends where the one
// without faults does, and then nothing is written for a minute.
//
// What is left out: a member that was removed by force, or whose node is gone, may run
// on; nothing can be said about it. Two controllers that are active at the same time
// keep within maxUnavailable together as long as they know the same generation.
//
//	go test ./test/faults/sim                          a sample, below a minute
//	SIM=full go test ./test/faults/sim -timeout 60m    everything
//	SEED=1 SEEDS=100000 go test ./test/faults/sim -run TestSoak -timeout 10h
//
// A failure prints its story and the command that plays it again: SIM_RUN names the
// trial. What chance decides comes from the seed of the trial, and the jitter of the
// client library from a fixed one. Two things remain to the Go runtime, the order of
// goroutines that are ready together and its random selects, so that it may take a few
// attempts until a story comes out the same.
//
// Package seeds puts bugs into the controller and demands that this package finds
// them; package conformance compares the model with a kube-apiserver.
package sim
