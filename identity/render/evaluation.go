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

// evaluationsAtOnce is the maximum number of expressions that the process evaluates at the same
// time. With mostCreated, it limits the memory of all evaluations.
const evaluationsAtOnce = 4

// evaluating has an entry for each evaluation in progress.
//
//nolint:gochecknoglobals // it limits all evaluations of the process
var evaluating = make(chan struct{}, evaluationsAtOnce)

// Evaluation limits the time in which expressions are evaluated. Nil means no limit.
type Evaluation struct {
	ctx context.Context //nolint:containedctx // a value that pure functions pass on
}

// Within returns an evaluation that ends with the context.
func Within(ctx context.Context) *Evaluation { return &Evaluation{ctx} }

// Ended reports whether the time limit is exceeded.
func (e *Evaluation) Ended() bool { return e.context().Err() != nil }

func (e *Evaluation) context() context.Context {
	if e == nil {
		return context.Background()
	}
	return e.ctx
}

// errStopped is an evaluation that was stopped by its context. A retry may succeed.
var errStopped = errors.New("the evaluation did not complete in time")

func stopped(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errStopped, context.Cause(ctx))
}

// run evaluates a program when fewer than evaluationsAtOnce evaluations are in progress.
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
