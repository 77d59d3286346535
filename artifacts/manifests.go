// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package artifacts has what a cluster gets, for programs that give it.
package artifacts

import "embed"

// Manifests are the kustomizations for one server and for three, and what they refer to.
//
//go:embed base ha protect
var Manifests embed.FS
