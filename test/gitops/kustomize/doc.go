// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kustomize compares what kustomize makes of the built-in StatefulSet with what it makes of ours, with the
// component of artifacts/kustomize and without it.
package kustomize
