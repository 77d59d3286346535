// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
)

// The limits on what one evaluation may create and do. The cost that CEL counts limits neither: CEL
// compares it with its limit after a call has returned, and most functions cost the same for any
// arguments.
const (
	mostValue   = 64 << 10 // bytes of a string, entries of a list
	mostCreated = 4 << 20  // bytes of all strings and lists together
	mostSteps   = 16 << 20 // bytes that are compared and searched, counted each time
	bytesOfItem = 16       // of an item in a list, in addition to the item itself
)

// accountName is the variable with the account of an evaluation. No variable of an expression can
// have this name.
const accountName = "@account"

// account is what an evaluation may still create and do. Every call that creates something asks it
// first.
type account struct {
	ctx     context.Context //nolint:containedctx // it exists only during one evaluation
	created int
	steps   int
}

// text reserves a string of some bytes.
func (a *account) text(size int) error {
	if size > mostValue {
		return fmt.Errorf("would create a string of %d bytes, at most %d are allowed", size, mostValue)
	}
	return a.create(size)
}

// list reserves a list, or a map, of some entries.
func (a *account) list(entries int) error {
	if entries > mostValue {
		return fmt.Errorf("would create a list of %d entries, at most %d are allowed", entries, mostValue)
	}
	return a.create((entries + 1) * bytesOfItem)
}

func (a *account) create(size int) error {
	if a.created += size; a.created > mostCreated {
		return fmt.Errorf("creates more than %d bytes of strings and lists", mostCreated)
	}
	return a.work(size)
}

// work reserves the time to read some bytes.
func (a *account) work(steps int) error {
	if a.ctx.Err() != nil {
		return stopped(a.ctx)
	}
	if steps > mostSteps-a.steps {
		a.steps = mostSteps
		return fmt.Errorf("compares and searches more than %d bytes", mostSteps)
	}
	a.steps += steps
	return nil
}
