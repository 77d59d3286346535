// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package artifacts has what a cluster gets, for programs that give it.
package artifacts

import "embed"

// Manifests are the kustomize base and what it refers to.
//
//go:embed base protect
var Manifests embed.FS
