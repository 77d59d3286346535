// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitops checks that tools that render, merge and compare manifests handle the built-in
// StatefulSet and ours in the same way. It uses the tools' own libraries on a cluster that has
// both: Helm, Argo CD, Flux and kubectl. The tests of kustomize, which needs no cluster, are in a
// package below. docs/gitops.md is the page about these tools.
package gitops
