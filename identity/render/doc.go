// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package render renders a template for one member: it replaces $(NAME) in strings with the value
// of a parameter, and computes fields with transforms. All functions are pure and bounded: in time
// by the allowed cost of expressions, in space by the allowed size of their results. Equal
// arguments give equal results.
package render
