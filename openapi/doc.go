// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package openapi holds the generated OpenAPI definitions of every type that the
// server serves or refers to.
package openapi
