// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lab runs the processes of suites that inject faults: it opens the local cluster that
// bin/cluster started, and starts, kills, stops and resumes servers in it.
//
//	l := lab.Open(t)                    // the cluster that STATEFULSET_CLUSTER_DIR names
//	server := l.TakeOver(t, lab.Server) // ends the registered server; returns how it was started
//	etcd := l.Etcd(t)                   // a separate etcd for the test, ready
//	server.Args = server.Args.Without("data-dir").With("etcd-servers", etcd.URL)
//	p := l.Start(t, server)             // started, and ready
//	p.Kill(t)                           // SIGKILL, and waits for its end
//	p = l.Start(t, server)              // again
//
// Everything that a test started ends with the test. Programs listen on loopback. Their output is
// in the cluster's directory, below logs.
//
// A program that was taken over is not started again: a suite has its own cluster, and
// bin/cluster up repairs a cluster that is used further.
package lab
