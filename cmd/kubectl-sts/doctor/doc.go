// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package doctor finds out why StatefulSets of our group do not work. It checks the registration of
// the API, its certificates, the trust between the host cluster and the server, the server's
// rights, its store, its leader, and the sets themselves. With each problem it prints the command
// that shows more or fixes it.
//
// A check is a function from an examiner, which has the clients, to findings. A check that lacks a
// right reports that, and is not a failure.
package doctor
