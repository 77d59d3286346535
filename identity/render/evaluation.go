// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
)

// evaluationsAtOnce is how many expressions the process evaluates at a time. With mostCreated it bounds
// the memory that all evaluations hold.
const evaluationsAtOnce = 4

// evaluating has an entry for each evaluation that is under way.
//
//nolint:gochecknoglobals // it bounds what the process takes, whoever evaluates
var evaluating = make(chan struct{}, evaluationsAtOnce)

// Evaluation says until when expressions may be evaluated. Nil stands for no end.
type Evaluation struct {
	ctx context.Context //nolint:containedctx // a value that pure functions hand on
}

// Within lets expressions be evaluated until the context ends.
func Within(ctx context.Context) *Evaluation { return &Evaluation{ctx} }

// Ended reports whether the time for evaluations is over.
func (e *Evaluation) Ended() bool { return e.context().Err() != nil }

func (e *Evaluation) context() context.Context {
	if e == nil {
		return context.Background()
	}
	return e.ctx
}

// errStopped is an evaluation that was ended from outside. It may succeed when it is tried again.
var errStopped = errors.New("the time for its evaluation is over")

func stopped(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errStopped, context.Cause(ctx))
}

// run evaluates a program when fewer than evaluationsAtOnce others are evaluated.
func (e *Evaluation) run(program cel.Program, input map[string]any) (result ref.Val, cost uint64, err error) {
	ctx := e.context()
	select {
	case evaluating <- struct{}{}:
		defer func() { <-evaluating }()
	case <-ctx.Done():
		return nil, 0, stopped(ctx)
	}
	if ctx.Err() != nil {
		return nil, 0, stopped(ctx)
	}
	variables := maps.Clone(input)
	variables[accountName] = &account{ctx: ctx}
	result, details, err := program.ContextEval(ctx, variables)
	if err != nil && ctx.Err() != nil {
		err = stopped(ctx)
	}
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	return result, cost, err
}
