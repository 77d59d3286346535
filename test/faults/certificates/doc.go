// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates lets the certificates that the server makes for itself, and the
// authorities that sign them, run out under load. It has a cluster of its own.
//
//	renewal_test.go  replicas renew everything while requests come in, and none fails
//	broken_test.go   what is wrong is said, and what to do about it
//	suite_test.go    servers that make their certificates, and what the host is told
package certificates
