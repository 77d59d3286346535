// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package security holds what is promised about security against the real thing: a
// server as docs/security.md advises to run one, with an etcd that asks for
// certificates, encrypted values and an audit log of its own, on a host whose
// kube-apiserver writes down every request. Which test stands for which promise is in
// package items.
package security
