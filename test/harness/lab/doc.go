// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lab runs the processes of suites that do harm: it opens the local cluster
// that bin/cluster started, and starts, kills, stops and resumes servers on it.
//
//	l := lab.Open(t)                    // the cluster named by STATEFULSET_CLUSTER_DIR
//	server := l.TakeOver(t, lab.Server) // the registered server ends; what it was started with
//	etcd := l.Etcd(t)                   // an etcd of the test's own, ready
//	server.Args = server.Args.Without("data-dir").With("etcd-servers", etcd.URL)
//	p := l.Start(t, server)             // started, and ready
//	p.Kill(t)                           // SIGKILL, and gone
//	p = l.Start(t, server)              // again
//
// Everything that a test started ends with it. Programs listen on loopback. What a
// program prints is kept in the cluster's directory, below logs.
//
// A program that was taken over is not given back: a suite has a cluster of its own,
// and bin/cluster up repairs one that is to live on.
package lab
