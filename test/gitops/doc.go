// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitops has tools that render, merge and compare manifests treat the built-in StatefulSet and ours, with the
// tools' own libraries on a cluster that has both: Helm, Argo CD, Flux and kubectl. kustomize, which needs no cluster, is
// in a package below. docs/gitops.md is the page about it.
package gitops
