// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

// The limits on the size of an expression before it is evaluated. A macro that copies its target
// makes an expression of 200 bytes as long as a book, and the type of a map whose keys are maps
// doubles with every level.
const (
	mostParts        = 10_000
	mostComputedMaps = 8
	copiesOfTarget   = 4
)

// plain parses expressions without expanding macros.
//
//nolint:gochecknoglobals // built once, and never changed
var plain = sync.OnceValues(func() (*parser.Parser, error) {
	return parser.NewParser(parser.EnableOptionalSyntax(true), parser.ExpressionSizeCodePointLimit(mostExpression),
		parser.MaxRecursionDepth(mostDepth))
})

// parse parses an expression without expanding macros.
func parse(text string) (*ast.AST, error) {
	p, err := plain()
	if err != nil {
		return nil, fmt.Errorf("building the parser: %w", err)
	}
	parsed, errs := p.Parse(common.NewTextSource(text))
	if found := errs.GetErrors(); len(found) > 0 {
		return nil, wrongAt(found[0])
	}
	return parsed, nil
}

// judgeExpansion rejects an expression that would become too long when macros are expanded and
// types are inferred, before either is done.
func judgeExpansion(text string) error {
	parsed, err := parse(text)
	if err != nil {
		return err
	}
	if n := partsOf(parsed.Expr()); n > mostParts {
		return fmt.Errorf("has more than %d parts when its macros are expanded: %s copy their target", mostParts,
			strings.Join(copying(), " and "))
	}
	if n := computedMaps(parsed.Expr()); n > mostComputedMaps {
		return fmt.Errorf("has %d maps with computed keys, at most %d are allowed", n, mostComputedMaps)
	}
	return nil
}

// wrongAt describes the error in an expression, with its place.
func wrongAt(found *common.Error) error {
	return fmt.Errorf("%s: %s", position(found.Location), strings.TrimSuffix(found.Message, " (in container '')"))
}

// copying are the macros that copy their target.
func copying() []string { return []string{"optMap", "optFlatMap"} }

// partsOf is the approximate number of parts of an expression after its macros are expanded. It
// stops counting above the limit.
func partsOf(e ast.Expr) int {
	n, copied := 1, int64(0)
	if e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() && slices.Contains(copying(), e.AsCall().FunctionName()) {
		copied = e.AsCall().Target().ID()
	}
	for _, child := range ast.NavigateExpr(nil, e).Children() {
		parts := partsOf(child)
		if child.ID() == copied {
			parts *= copiesOfTarget
		}
		if n += parts; n > mostParts {
			return mostParts + 1
		}
	}
	return n
}

// computedMaps is the number of maps in an expression with a key that is not a literal.
func computedMaps(e ast.Expr) int {
	n := 0
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.MapKind && slices.ContainsFunc(e.AsMap().Entries(), hasComputedKey) {
			n++
		}
	}))
	return n
}

func hasComputedKey(entry ast.EntryExpr) bool {
	return entry.AsMapEntry().Key().Kind() != ast.LiteralKind
}
