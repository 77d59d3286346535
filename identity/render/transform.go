// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	v1 "statefulset.dev/api/apps/v1"
)

// The limits of transforms.
const (
	mostTransforms = 32
	mostExpression = 4 << 10
	mostResult     = 64 << 10
	mostCost       = 100_000
	mostRange      = 1000
	mostDepth      = 100
)

// language is CEL with its extensions, but without parameters. It is slow to build.
//
//nolint:gochecknoglobals // built once, and never changed
var language = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.OptionalTypes(), ext.Strings(), ext.Lists(ext.ListsMaxRangeSize(mostRange)), ext.Math(), ext.Regex(), ext.Encoders(),
		cel.ParserExpressionSizeLimit(mostExpression), cel.ParserRecursionLimit(mostDepth))
})

// transform is a transform that can be executed.
type transform struct {
	in      string
	at      pointer
	text    string
	program cel.Program
	checked *cel.Ast
	// lists is true if the expression reads MEMBERS.
	lists bool
}

// compilation compiles transforms.
type compilation struct {
	// in is the part of spec with the transforms. owned are the fields that they cannot change, and
	// whose is the owner of these fields.
	in    string
	owned []pointer
	whose string
	known map[string]parameter
	sizes sizes
	// members is MEMBERS. It is nil if no expression mentions it, or if another parameter has the
	// name.
	members *listed
}

// compile compiles the transforms of the identity.
func (s *Source) compile() ([]transform, []*Error) {
	known := s.parameters(Member{})
	c := compilation{in: "identity.transforms", owned: owned(s.Selected), whose: "the member's identity", known: known,
		sizes: s.lengths(known), members: s.listedInIdentity()}
	return c.all(s.Identity.Transforms)
}

// all compiles transforms, or returns the error in each.
func (c *compilation) all(written []v1.Transform) ([]transform, []*Error) {
	if len(written) == 0 {
		return nil, nil
	}
	if n := len(written); n > mostTransforms {
		return nil, []*Error{errorf(c.in, "", fmt.Sprint(n), "must be at most %d", mostTransforms)}
	}
	if _, taken := c.known[Members]; taken {
		c.members = nil
	}
	env, err := c.environment()
	if err != nil {
		return nil, []*Error{errorf(c.in, "", "", "%s", err)}
	}
	var all []transform
	var errs []*Error
	cost := uint64(0)
	for i, written := range written {
		in := fmt.Sprintf("%s[%d]", c.in, i)
		at, wrong := c.pointerOf(in, written.Path)
		if wrong != nil {
			errs = append(errs, wrong)
		}
		t := transform{in: in, at: at, text: written.Expression}
		estimate, err := c.one(env, &t)
		if err == nil {
			cost = saturated(cost, estimate)
			err = tooCostly(cost, estimate)
		}
		if err != nil {
			errs = append(errs, errorf(in, "expression", written.Expression, "%s", err))
		}
		all = append(all, t)
	}
	return all, errs
}

func saturated(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func tooCostly(all, last uint64) error {
	if all > mostCost {
		return fmt.Errorf("may cost %d, and all transforms together %d; at most %d is allowed", last, all, mostCost)
	}
	return nil
}

// environment is the language with the parameters of the set. It includes REPLICAS, so that
// REPLICAS gets a specific error.
func (c *compilation) environment() (*cel.Env, error) {
	base, err := language()
	if err != nil {
		return nil, err
	}
	var variables []cel.EnvOption
	for name, p := range c.known {
		kind := cel.StringType
		if p.number != nil {
			kind = cel.IntType
		}
		variables = append(variables, cel.Variable(name, kind))
	}
	if c.members != nil {
		c.members.measure(c.sizes)
		variables = append(variables, c.members.options(base)...)
	}
	return base.Extend(variables...)
}

// pointerOf parses the path of a transform, and rejects a path that the transform cannot change.
func (c *compilation) pointerOf(in, path string) (pointer, *Error) {
	at, err := parsePointer(path)
	if err != nil {
		return nil, errorf(in, "path", path, "%s", err)
	}
	for _, other := range c.owned {
		if at.isAtOrAbove(other) || other.isAtOrAbove(at) {
			wrong := errorf(in, "path", path, "%s belongs to %s", path, c.whose)
			if len(at) < len(other) {
				wrong = errorf(in, "path", path, "%s contains a field that belongs to %s; use the path of another field in it", path, c.whose)
			}
			wrong.Forbidden = true
			return nil, wrong
		}
	}
	return at, nil
}

// one compiles the expression of a transform, and returns its estimated cost.
func (c *compilation) one(env *cel.Env, t *transform) (uint64, error) {
	if len(t.text) > mostExpression {
		return 0, fmt.Errorf("must have at most %d bytes", mostExpression)
	}
	checked, err := compiled(env, t.text)
	if err != nil {
		return 0, err
	}
	lists, err := c.judge(checked.NativeRep())
	if t.lists = lists; err != nil {
		return 0, err
	}
	estimate, err := env.EstimateCost(checked, c.sizes)
	if err != nil {
		return 0, err
	}
	t.checked = checked
	t.program, err = programOf(env, checked)
	return estimate.Max, err
}

// compiled checks the types of an expression. It rejects an expression that is too long after its
// macros are expanded.
func compiled(env *cel.Env, text string) (*cel.Ast, error) {
	if err := judgeExpansion(text); err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if found := issues.Errors(); len(found) > 0 {
		return nil, wrongAt(found[0])
	}
	return checked, judgeCalls(checked.NativeRep())
}

// programOf builds a program whose evaluations require an account, and stop when their context
// ends.
func programOf(env *cel.Env, checked *cel.Ast) (cel.Program, error) {
	const iterations = 100
	return env.Program(checked, cel.CustomDecoratorV2(bounded(env)), cel.CostLimit(mostCost), cel.EvalOptions(cel.OptTrackCost),
		cel.InterruptCheckFrequency(iterations))
}

// position is a place in an expression: its line and its column, both from 1.
func position(at common.Location) string { return fmt.Sprintf("%d:%d", at.Line(), at.Column()+1) }

// sizes are the maximum lengths of parameters and of MEMBERS, by name; and those of the fields of
// its entries, by name with a dot as prefix.
type sizes map[string]uint64

// The sizes that the estimate assumes where a size is unknown. The estimate is not a limit:
// account.go limits what an evaluation creates.
const (
	unknownText = 16 << 10
	unknownItem = 256 // of an item of a list
	unknownList = 1000
)

// EstimateSize implements checker.CostEstimator.
func (s sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if path := element.Path(); len(path) == 1 {
		if most, known := s[path[0]]; known {
			return &checker.SizeEstimate{Max: most}
		}
	}
	if element.Expr().Kind() == ast.SelectKind && element.Type().Kind() == types.StringKind {
		if most, known := s["."+element.Expr().AsSelect().FieldName()]; known {
			return &checker.SizeEstimate{Max: most}
		}
	}
	most := uint64(unknownText)
	if element.Expr().Kind() == ast.IdentKind {
		most = unknownItem
	}
	switch element.Type().Kind() {
	case types.StringKind, types.BytesKind:
		return &checker.SizeEstimate{Max: most}
	case types.ListKind, types.MapKind:
		return &checker.SizeEstimate{Max: unknownList}
	default:
		return nil
	}
}

// EstimateCallCost implements checker.CostEstimator: a number becomes a short string.
func (s sizes) EstimateCallCost(_, overload string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	const longestNumber = 25
	switch overload {
	case overloads.IntToString, overloads.UintToString, overloads.DoubleToString, overloads.BoolToString:
		return &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(1), ResultSize: &checker.SizeEstimate{Max: longestNumber}}
	default:
		return nil
	}
}

// inputOf returns the variables of expressions with these parameters.
func inputOf(known map[string]parameter) map[string]any {
	input := make(map[string]any, len(known)+1)
	for name, p := range known {
		if p.number != nil {
			input[name] = *p.number
		} else {
			input[name] = p.text
		}
	}
	return input
}

// evaluate returns the result of the expression of a transform, and its cost.
func (t transform) evaluate(e *Evaluation, input map[string]any) (value any, cost uint64, err error) {
	result, cost, err := e.run(t.program, input)
	if failed := (*types.Err)(nil); errors.As(err, &failed) && failed.NodeID() != 0 {
		err = fmt.Errorf("%s: %w", position(t.checked.NativeRep().SourceInfo().GetStartLocation(failed.NodeID())), err)
	}
	if err != nil {
		return nil, cost, err
	}
	room := mostResult
	value, err = jsonOf(result, &room)
	return value, cost, err
}
