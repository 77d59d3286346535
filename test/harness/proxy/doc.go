// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proxy stands between a controller and what it talks to, on loopback, and
// lets a test do harm at an exact point.
//
//   - Host is between a controller and kube-apiserver. It understands requests, and
//     asks the test at three points of every write: before it is sent on, when it has
//     been committed and not yet answered, and when the answer has been handed over.
//   - Store is between our server and its etcd, and asks at the same points of every
//     transaction that writes a set.
//   - Link passes bytes on, until it is told to refuse, to break off, or to hold back
//     either direction.
//   - Switch gives each connection to the link of the process that has made it, so that
//     two of several can be kept from each other.
//
// A write that was sent on is not broken off when the one who asked for it dies: the
// network would not take it back either.
package proxy
