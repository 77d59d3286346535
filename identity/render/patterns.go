// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// The limits of a regular expression: instructions of its program, groups (a replacement can name
// nine), and bytes for the places of all matches in a string.
const (
	mostInstructions = 1000
	mostGroups       = 9
	mostOfMatches    = 1 << 20
)

// pattern is a compiled regular expression.
type pattern struct {
	*regexp.Regexp

	// instructions is the approximate number of instructions of its program. Each byte that is
	// searched costs that many steps.
	instructions int
}

var errNotLiteral = errors.New("the regular expression must be a string literal")

// compilePattern compiles a regular expression whose program is short. It computes the length
// before it compiles: "a{1000}" has a thousand instructions.
func compilePattern(written string) (*pattern, error) {
	parsed, err := syntax.Parse(written, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("is not a regular expression: %w", err)
	}
	n := instructionsOf(parsed)
	if n > mostInstructions {
		return nil, fmt.Errorf("regular expression %q needs more than %d instructions", short(written), mostInstructions)
	}
	if groups := parsed.MaxCap(); groups > mostGroups {
		return nil, fmt.Errorf("regular expression %q has %d groups, at most %d are allowed", short(written), groups, mostGroups)
	}
	compiled, err := regexp.Compile(written)
	if err != nil {
		return nil, fmt.Errorf("is not a regular expression: %w", err)
	}
	return &pattern{compiled, n}, nil
}

// instructionsOf is the approximate number of instructions of a regular expression. It stops
// counting above the limit.
func instructionsOf(re *syntax.Regexp) int {
	const rangesOfInstruction = 16
	below := 0
	for _, sub := range re.Sub {
		if below += instructionsOf(sub); below > mostInstructions {
			return below
		}
	}
	switch re.Op {
	case syntax.OpRepeat:
		return below*max(re.Min, re.Max, 1) + max(re.Max-re.Min, 1)
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1 + len(re.Rune)/rangesOfInstruction
	default:
		return below + 2
	}
}

// isSearch reports whether the second argument of a function is a regular expression.
func isSearch(function string) bool {
	_, is := searches()[function]
	return is
}

// judgePattern accepts a call whose regular expression is a literal that can be compiled.
func judgePattern(e ast.Expr) error {
	args := e.AsCall().Args()
	if e.AsCall().IsMemberFunction() {
		args = append([]ast.Expr{e.AsCall().Target()}, args...)
	}
	if len(args) < 2 || args[1].Kind() != ast.LiteralKind {
		return errNotLiteral
	}
	written, is := args[1].AsLiteral().(types.String)
	if !is {
		return errNotLiteral
	}
	_, err := compilePattern(string(written))
	return err
}

// patternOf returns the regular expression of a call that judgePattern accepts.
func patternOf(node interpreter.InterpretableCall) (*pattern, error) {
	if len(node.Args()) < 2 {
		return nil, errNotLiteral
	}
	literal, is := node.Args()[1].(interpreter.InterpretableConst)
	if !is {
		return nil, errNotLiteral
	}
	return compilePattern(text(literal.Value()))
}

// searches are the functions with a regular expression, and their implementations. The
// implementations of CEL would compile it for every call.
//
//nolint:gochecknoglobals // a table
var searches = sync.OnceValue(func() map[string]func(a *account, p *pattern, args []ref.Val) ref.Val {
	return map[string]func(a *account, p *pattern, args []ref.Val) ref.Val{
		"matches": matches, "regex.extract": extract, "regex.extractAll": extractAll, "regex.replace": regexReplace,
	}
})

// search returns the string of a call, and reserves the time to search it.
func (p *pattern) search(a *account, args []ref.Val) (string, error) {
	in, is := args[0].(types.String)
	if !is {
		return "", fmt.Errorf("no such overload: a regular expression searches a string, not %s", args[0].Type().TypeName())
	}
	return string(in), a.work(product(len(in)+1, p.instructions))
}

// all returns the places of all matches in a string.
func (p *pattern) all(in string) ([][]int, error) {
	const bytesOfPlace, bytesOfMatch = 16, 24
	if noted := product(len(in)+1, bytesOfMatch+bytesOfPlace*(p.NumSubexp()+1)); noted > mostOfMatches {
		return nil, fmt.Errorf("a string of %d bytes is too long to find all matches of a regular expression with %d groups", len(in),
			p.NumSubexp())
	}
	return p.FindAllStringSubmatchIndex(in, -1), nil
}

func matches(a *account, p *pattern, args []ref.Val) ref.Val {
	in, err := p.search(a, args)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(p.MatchString(in))
}

var errGroups = errors.New("a regular expression of regex.extract or regex.extractAll can have at most one group")

// extract returns the first match, or the match of its group. It returns none if that is empty.
func extract(a *account, p *pattern, args []ref.Val) ref.Val {
	in, err := p.search(a, args)
	if err == nil && p.NumSubexp() > 1 {
		err = errGroups
	}
	if err != nil {
		return types.WrapErr(err)
	}
	found := p.FindStringSubmatch(in)
	if len(found) == 0 || len(found) == 2 && found[1] == "" {
		return types.OptionalNone
	}
	return types.OptionalOf(types.String(found[len(found)-1]))
}

// extractAll returns all matches, or the match of the group in each.
func extractAll(a *account, p *pattern, args []ref.Val) ref.Val {
	in, err := p.search(a, args)
	if err == nil && p.NumSubexp() > 1 {
		err = errGroups
	}
	var places [][]int
	if err == nil {
		places, err = p.all(in)
	}
	if err == nil {
		err = a.list(len(places))
	}
	if err != nil {
		return types.WrapErr(err)
	}
	found := make([]string, 0, len(places))
	for _, place := range places {
		from, to := place[len(place)-2], place[len(place)-1]
		if grouped := len(place) > 2; !grouped || from < to {
			found = append(found, in[max(from, 0):max(to, 0)])
		}
	}
	return types.NewStringList(types.DefaultTypeAdapter, found)
}

// regexReplace replaces matches. \1 in the replacement is the match of the first group.
func regexReplace(a *account, p *pattern, args []ref.Val) ref.Val {
	in, err := p.search(a, args)
	if err != nil {
		return types.WrapErr(err)
	}
	places, err := p.all(in)
	if err != nil {
		return types.WrapErr(err)
	}
	if len(args) == 4 {
		if limit := number(args[3], -1); limit >= 0 {
			places = places[:min(int64(len(places)), limit)]
		}
	}
	with := text(args[2])
	var result strings.Builder
	last := 0
	for _, place := range places {
		result.WriteString(in[last:place[0]])
		if err := p.expand(&result, in, place, with); err != nil {
			return types.WrapErr(err)
		}
		last = place[1]
	}
	result.WriteString(in[last:])
	if err := a.text(result.Len()); err != nil {
		return types.WrapErr(err)
	}
	return types.String(result.String())
}

// expand writes a replacement, and stops when the result is longer than the limit.
func (p *pattern) expand(result *strings.Builder, in string, place []int, with string) error {
	for at := 0; at < len(with); at++ {
		if result.Len() > mostValue {
			return nil // the caller rejects the result
		}
		if with[at] != '\\' {
			result.WriteByte(with[at])
			continue
		}
		at++
		switch {
		case at < len(with) && with[at] == '\\':
			result.WriteByte('\\')
		case at == len(with) || with[at] < '0' || with[at] > '9':
			return fmt.Errorf("invalid replacement %q: \\ must be followed by a digit or \\", short(with))
		default:
			group := int(with[at] - '0')
			if group > p.NumSubexp() {
				return fmt.Errorf("invalid replacement %q: there are %d groups", short(with), p.NumSubexp())
			}
			if from := place[2*group]; from >= 0 {
				result.WriteString(in[from:place[2*group+1]])
			}
		}
	}
	return nil
}
