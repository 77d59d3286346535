// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates lets the certificates that the server issues itself, and the CAs that sign
// them, expire under load. It has its own cluster.
//
//	renewal_test.go  replicas renew everything while clients send requests, and no request fails
//	broken_test.go   problems are reported, with what to do about them
//	suite_test.go    servers that issue their certificates, and what they publish to the cluster
package certificates
