// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// bounded makes every call that can create or compare large values ask the account of the
// evaluation first. The size of the result is computed from the arguments, so nothing is allocated
// for a call that is refused.
func bounded(env *cel.Env) interpreter.InterpretableDecoratorV2 {
	return func(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		switch node := node.(type) {
		case interpreter.InterpretableConstructor:
			return constructor{node}, nil
		case interpreter.InterpretableCall:
			return boundedCall(env, node)
		default:
			return node, nil
		}
	}
}

func boundedCall(env *cel.Env, node interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	if search, is := searches()[node.Function()]; is {
		pattern, err := patternOf(node)
		if err != nil {
			return nil, err
		}
		return call{node, func(a *account, args []ref.Val) ref.Val { return search(a, pattern, args) }}, nil
	}
	charge, is := charges()[node.Function()]
	if !is {
		return node, nil
	}
	apply, err := implementation(env, node)
	if err != nil {
		return nil, err
	}
	return call{node, func(a *account, args []ref.Val) ref.Val {
		if err := charge(a, args); err != nil {
			return types.WrapErr(err)
		}
		return apply(args)
	}}, nil
}

// call is a call that asks the account before it is executed.
type call struct {
	interpreter.InterpretableCall

	apply func(a *account, args []ref.Val) ref.Val
}

// Eval implements interpreter.Interpretable.
func (c call) Eval(variables interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(variables))
}

// Exec implements interpreter.InterpretableV2.
func (c call) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	nodes := c.Args()
	args := make([]ref.Val, len(nodes))
	for i, node := range nodes {
		if args[i] = node.Exec(frame); types.IsUnknownOrError(args[i]) {
			return args[i]
		}
	}
	a, err := accountOf(frame)
	if err != nil {
		return types.NewErrWithNodeID(c.ID(), "%w", err)
	}
	return types.LabelErrNode(c.ID(), c.apply(a, args))
}

// constructor is a list or a map literal in an expression. A comprehension uses one for each item
// that it adds to its result.
type constructor struct {
	interpreter.InterpretableConstructor
}

// Eval implements interpreter.Interpretable.
func (c constructor) Eval(variables interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(variables))
}

// Exec implements interpreter.InterpretableV2.
func (c constructor) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	a, err := accountOf(frame)
	if err == nil {
		err = a.list(len(c.InitVals()))
	}
	if err != nil {
		return types.NewErrWithNodeID(c.ID(), "%w", err)
	}
	return c.InterpretableConstructor.Exec(frame)
}

func accountOf(frame *interpreter.ExecutionFrame) (*account, error) {
	found, _ := frame.ResolveName(accountName)
	a, is := found.(*account)
	if !is {
		return nil, fmt.Errorf("internal error: no account, but %T", found)
	}
	return a, nil
}

// implementation returns the function that executes a call with its arguments.
func implementation(env *cel.Env, node interpreter.InterpretableCall) (func(args []ref.Val) ref.Val, error) {
	switch node.Function() {
	case operators.Equals:
		return func(args []ref.Val) ref.Val { return types.Equal(args[0], args[1]) }, nil
	case operators.NotEquals:
		return func(args []ref.Val) ref.Val { return types.Bool(types.Equal(args[0], args[1]) != types.True) }, nil
	}
	declared, is := env.Functions()[node.Function()]
	if !is {
		return nil, fmt.Errorf("internal error: no function %s", node.Function())
	}
	bindings, err := declared.Bindings()
	if err != nil {
		return nil, fmt.Errorf("reading the implementation of %s: %w", node.Function(), err)
	}
	var found *functions.Overload
	for _, b := range bindings {
		if b.Operator == node.OverloadID() || found == nil && b.Operator == node.Function() {
			found = b
		}
	}
	if found == nil {
		return nil, fmt.Errorf("internal error: function %s has no implementation", node.Function())
	}
	return func(args []ref.Val) ref.Val { return applied(found, node, args) }, nil
}

// applied calls a function as CEL does: its own implementation, or that of its first argument.
func applied(f *functions.Overload, node interpreter.InterpretableCall, args []ref.Val) ref.Val {
	if f.OperandTrait != 0 && !args[0].Type().HasTrait(f.OperandTrait) {
		if receiver, is := args[0].(traits.Receiver); is {
			return receiver.Receive(node.Function(), node.OverloadID(), args[1:])
		}
		return types.NewErr("no such overload: %s", node.Function())
	}
	switch {
	case len(args) == 1 && f.Unary != nil:
		return f.Unary(args[0])
	case len(args) == 2 && f.Binary != nil:
		return f.Binary(args[0], args[1])
	case f.Function != nil:
		return f.Function(args...)
	default:
		return types.NewErr("no such overload: %s", node.Function())
	}
}
