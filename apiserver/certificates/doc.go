// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates is about the certificates of the server and of its clients.
//
//	client_ca.go  nobody is let in before the authorities of clients are known
//	expiry.go     a metric that says when the serving certificate ends
package certificates
