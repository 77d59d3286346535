// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proxy contains proxies between a controller and its servers, on loopback, with which a
// test can inject faults at an exact point.
//
//   - Host is between a controller and kube-apiserver. It parses requests, and calls the test
//     at three points of every write: before it is forwarded, when it is committed but not
//     answered, and when the response has been delivered.
//   - Store is between our server and its etcd, and calls the test at the same points of every
//     transaction that writes a set.
//   - Link forwards bytes, until the test makes it refuse or reset connections, or delay either
//     direction.
//   - Switch passes each connection to the link of the process that opened it, so that two of
//     several processes can be separated.
//
// A forwarded write is not cancelled when its client dies: the network would not cancel it either.
package proxy
