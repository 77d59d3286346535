// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package render makes of a template what it is for one member: $(NAME) in its strings becomes
// the value of a parameter, and transforms compute fields. Everything here is a pure function of
// its arguments, and is bounded: in time by what expressions may cost, in space by what they may
// give. Equal arguments give equal results.
package render
