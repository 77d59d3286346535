// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package issuer issues certificates, and creates the certificate authorities (CAs) that sign them.
// It stores nothing.
//
//	authority.go  a CA, and what it signs
//	bundle.go     CAs as they are stored
package issuer
