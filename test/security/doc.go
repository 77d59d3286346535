// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package security checks the security promises in practice: a server as docs/security.md
// recommends, with an etcd that requires certificates, encrypted values and its own audit log, on a
// host cluster whose kube-apiserver records every request. Package items lists which tests check
// which promise.
package security
