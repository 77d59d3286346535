// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import "context"

// mode says what becomes of a value that cannot be read.
type mode byte

const (
	// substitute puts a stand-in in its place. It is the mode of whatever does not
	// say otherwise: lists and watches, whose contexts come from many places.
	substitute mode = iota
	// refuse makes it an error. A value is also refused if it holds another object
	// than its key says.
	refuse
	// bare is refuse for an update, which compares the value with what it is about to
	// write, so nothing may be put in front of it.
	bare
)

type modeKey struct{}

func with(ctx context.Context, m mode) context.Context {
	return context.WithValue(ctx, modeKey{}, m)
}

func modeOf(ctx context.Context) mode {
	m, _ := ctx.Value(modeKey{}).(mode)
	return m
}
