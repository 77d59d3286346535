// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates handles the certificates of the server and of its clients.
//
//	client_ca.go  accepts no connection before the CAs of clients are known
//	expiry.go     a metric for the expiry of the serving certificate
package certificates
