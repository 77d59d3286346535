// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package supply holds what is promised about how the server is built: from what, with
// which licences, and the same each time. Its tests need git and the module cache.
package supply
