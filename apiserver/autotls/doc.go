// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package autotls issues the serving certificate of the server, creates the certificate authority
// (CA) with which the host cluster verifies it, and renews both.
//
// The CAs are in a Secret of the host cluster, so that all replicas sign with the same ones. The
// manifests create the Secret empty, and the server fills it, because the server has no right to
// create Secrets. Each replica issues its certificate in memory, and publishes the trusted CAs in
// the caBundle of the APIService. A CA is published long before it signs, and stays trusted until
// all certificates that it has signed have expired, so a rotation refuses no request.
//
//	options.go       the flags
//	schedule.go      which CAs are needed at a time, and which one signs
//	secret.go        the Secret of the CAs
//	registration.go  the APIService
//	serving.go       the serving certificate
//	sync.go          one sync of all of that
package autotls
