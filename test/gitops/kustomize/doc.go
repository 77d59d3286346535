// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kustomize compares the results of kustomize for the built-in StatefulSet and for ours,
// with and without the component in artifacts/kustomize.
package kustomize
