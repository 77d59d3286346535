// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// judge rejects expressions that read parameters which change while pods run, and expressions whose
// result may differ between evaluations. It reports whether the expression reads MEMBERS.
func (c *compilation) judge(checked *ast.AST) (lists bool, err error) {
	references := checked.ReferenceMap()
	for _, id := range slices.Sorted(maps.Keys(references)) {
		name := references[id].Name
		why := c.known[name].misplaced()
		if name == Members && c.members != nil {
			lists, why = true, c.members.misplaced
		}
		if why != "" {
			return lists, fmt.Errorf("%s %s", name, why)
		}
	}
	if lists {
		if err := judgeFlow(checked); err != nil {
			return lists, err
		}
	}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		if over := checked.GetType(e.AsComprehension().IterRange().ID()); over.Kind() != types.ListKind {
			at := checked.SourceInfo().GetStartLocation(e.AsComprehension().IterRange().ID())
			err = fmt.Errorf("%s: only lists can be iterated; %s has no order", position(at), over)
		}
	}))
	return lists, err
}

// judgeCalls accepts only calls of functions whose results are bounded before they are computed,
// and only regular expressions that are literals.
func judgeCalls(checked *ast.AST) (err error) {
	wrong := func(e ast.Expr, format string, args ...any) {
		if err == nil {
			err = fmt.Errorf("%s: %w", position(checked.SourceInfo().GetStartLocation(e.ID())), fmt.Errorf(format, args...))
		}
	}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.StructKind {
			wrong(e, "messages cannot be created; use a map")
		}
		if e.Kind() != ast.CallKind {
			return
		}
		name := e.AsCall().FunctionName()
		if isSearch(name) {
			if bad := judgePattern(e); bad != nil {
				wrong(e, "%w", bad)
			}
		} else if _, is := charges()[name]; !is && !slices.Contains(constants(), name) {
			wrong(e, "function %s is not allowed", displayed(name))
		}
	}))
	return err
}

// entriesGoTo are the functions to which entries of the list of members, or lists of them, can be
// passed. They do not read the entries, so their cost does not depend on the number of entries, or
// CEL counts it. In contrast, CEL counts almost no cost for the comparison of two lists or the
// conversion of a list to a string.
func entriesGoTo() []string {
	return []string{
		operators.Index, operators.OptIndex, operators.OptSelect, operators.Add, operators.Conditional, "size", "slice", "reverse", "first",
		"last", "@sortByAssociatedKeys",
		"or", "orValue", "value", "hasValue", "optional.of",
	}
}

var errMixed = errors.New("members are mixed with other values; use their fields")

// judgeFlow allows only iteration over the list of members, and access to fields of its entries.
func judgeFlow(checked *ast.AST) (err error) {
	for _, e := range ast.MatchDescendants(ast.NavigateAST(checked), ast.AllMatcher()) {
		if !slices.ContainsFunc(e.Children(), func(c ast.NavigableExpr) bool { return holds(c.Type(), isEntry) }) {
			continue
		}
		switch {
		case e.Kind() == ast.CallKind && !slices.Contains(entriesGoTo(), e.AsCall().FunctionName()):
			err = fmt.Errorf("members cannot be passed to %s; use their fields", displayed(e.AsCall().FunctionName()))
		case holds(e.Type(), isAnything):
			err = errMixed
		default:
			continue
		}
		return fmt.Errorf("%s: %w", position(checked.SourceInfo().GetStartLocation(e.ID())), err)
	}
	return nil
}

// displayed returns how expressions write a function.
func displayed(function string) string {
	if operator, is := operators.FindReverse(function); is && operator != "" {
		return operator
	}
	return function
}

// holds reports whether a type, or one of its parameters, is of a kind.
func holds(t *types.Type, sort func(*types.Type) bool) bool {
	return t != nil && (sort(t) || slices.ContainsFunc(t.Parameters(), func(p *types.Type) bool { return holds(p, sort) }))
}

func isEntry(t *types.Type) bool { return t.Kind() == types.StructKind && t.TypeName() == entryType }

func isAnything(t *types.Type) bool { return t.Kind() == types.DynKind || t.Kind() == types.AnyKind }
