// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package autotls makes the certificate that the server serves with, and the authority by
// which the host cluster knows it, and renews both.
//
// The authorities are in a Secret of the host, so that all replicas sign with the same ones. The
// manifests create it empty, and the server fills it: it has no right to create Secrets.
// Each replica makes its certificate in memory, and tells the host by the caBundle of the
// APIService whom to trust. An authority is published long before it signs, and stays
// trusted until nothing that it has signed is valid any more, so no request is refused
// while one takes the place of another.
//
//	options.go    the flags
//	schedule.go   which authorities are wanted at a time, and which one signs
//	secret.go     where they are kept
//	registration.go  what the host is told
//	serving.go    the certificate that is served
//	sync.go       one look at all of that
package autotls
