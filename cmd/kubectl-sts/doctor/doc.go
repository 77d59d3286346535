// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package doctor looks for what keeps StatefulSets of our group from working: the
// registration of the API, its certificates, the trust between the host and the
// server, the server's rights, its store, its leader, and the sets themselves. What
// it finds wrong comes with the command that shows more or mends it.
//
// A check is a function from an examiner, which holds the clients, to findings. One
// that cannot look, for want of a right, says so and is no failure.
package doctor
