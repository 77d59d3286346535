// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package issuer makes certificates, and authorities that sign them. It keeps nothing.
//
//	authority.go  an authority, and what it signs
//	bundle.go     authorities as they are stored
package issuer
