// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import "context"

// mode specifies how a value that cannot be read is handled.
type mode byte

const (
	// substitute replaces it with a stand-in. It is the default mode, which applies to lists and
	// watches, because their contexts come from many places.
	substitute mode = iota
	// refuse returns an error. It also rejects a value with another object than that of its key.
	refuse
	// bare is refuse for an update. An update compares the value with the new value, so nothing may
	// be put in front of it.
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
