// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package component derives the kustomize component in artifacts/kustomize from kustomize's own
// tables of built-in kinds and from the published OpenAPI document of this project.
package component
