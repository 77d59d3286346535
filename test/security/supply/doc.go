// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package supply checks the promises about builds of the server: the sources, the licences, and
// reproducibility. Its tests need git and the module cache.
package supply
