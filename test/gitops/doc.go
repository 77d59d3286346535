// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitops shows what tools that render, merge and compare manifests do with our kind, with the tools' own
// libraries: kustomize, Helm, Argo CD, Flux and kubectl. docs/gitops.md is the page about it.
package gitops
