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

// judge refuses what changes while pods run, and what need not be the same every time. It reports
// whether the expression reads MEMBERS.
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
			err = fmt.Errorf("%s: only lists have an order in which to go through them, %s has none", position(at), over)
		}
	}))
	return lists, err
}

// judgeCalls wants calls of functions only whose results are bounded before they are made, and regular
// expressions that are literals.
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

// entriesGoTo are the functions that may be given entries of the list of members, or lists of them: they
// do not look into entries, so that what they cost does not depend on how many there are, or is counted.
// To compare two lists, or to write one as text, costs next to nothing as costs are counted.
func entriesGoTo() []string {
	return []string{
		operators.Index, operators.OptIndex, operators.OptSelect, operators.Add, operators.Conditional, "size", "slice", "reverse", "first",
		"last", "@sortByAssociatedKeys",
		"or", "orValue", "value", "hasValue", "optional.of",
	}
}

var errMixed = errors.New("members are mixed with what is no member; use their fields")

// judgeFlow wants entries of the list of members to be gone through, and asked for their fields.
func judgeFlow(checked *ast.AST) (err error) {
	for _, e := range ast.MatchDescendants(ast.NavigateAST(checked), ast.AllMatcher()) {
		if !slices.ContainsFunc(e.Children(), func(c ast.NavigableExpr) bool { return holds(c.Type(), isEntry) }) {
			continue
		}
		switch {
		case e.Kind() == ast.CallKind && !slices.Contains(entriesGoTo(), e.AsCall().FunctionName()):
			err = fmt.Errorf("members cannot be given to %s; use their fields", displayed(e.AsCall().FunctionName()))
		case holds(e.Type(), isAnything):
			err = errMixed
		default:
			continue
		}
		return fmt.Errorf("%s: %w", position(checked.SourceInfo().GetStartLocation(e.ID())), err)
	}
	return nil
}

// displayed is a function as it is written.
func displayed(function string) string {
	if operator, is := operators.FindReverse(function); is && operator != "" {
		return operator
	}
	return function
}

// holds reports whether a type is, or is made of, one of a sort.
func holds(t *types.Type, sort func(*types.Type) bool) bool {
	return t != nil && (sort(t) || slices.ContainsFunc(t.Parameters(), func(p *types.Type) bool { return holds(p, sort) }))
}

func isEntry(t *types.Type) bool { return t.Kind() == types.StructKind && t.TypeName() == entryType }

func isAnything(t *types.Type) bool { return t.Kind() == types.DynKind || t.Kind() == types.AnyKind }
