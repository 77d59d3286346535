// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
)

// What one evaluation may create and do. The cost that CEL counts is no bound of either: it is compared
// with its limit after a call has returned, and most functions cost the same whatever their arguments.
const (
	mostValue   = 64 << 10 // bytes of a text, entries of a list
	mostCreated = 4 << 20  // bytes of all texts and lists together
	mostSteps   = 16 << 20 // bytes that are compared and searched, times how often
	bytesOfItem = 16       // of a list, besides what the item itself takes
)

// accountName is where evaluations find their account. No variable can have this name.
const accountName = "@account"

// account is what an evaluation may still create and do. Whatever grows asks it before it does.
type account struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one evaluation
	created int
	steps   int
}

// text asks for a text of some bytes.
func (a *account) text(size int) error {
	if size > mostValue {
		return fmt.Errorf("would create a text of %d bytes, at most %d are allowed", size, mostValue)
	}
	return a.create(size)
}

// list asks for a list, or a map, of some entries.
func (a *account) list(entries int) error {
	if entries > mostValue {
		return fmt.Errorf("would create a list of %d entries, at most %d are allowed", entries, mostValue)
	}
	return a.create((entries + 1) * bytesOfItem)
}

func (a *account) create(size int) error {
	if a.created += size; a.created > mostCreated {
		return fmt.Errorf("creates more than %d bytes of texts and lists", mostCreated)
	}
	return a.work(size)
}

// work asks for the time to go through some bytes.
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
