// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// drawer draws expressions of each type, with the functions that can create much.
type drawer struct {
	*rand.Rand

	depth int
}

func (d *drawer) one(of ...func() string) string {
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > 6 {
		return of[0]()
	}
	return of[d.IntN(len(of))]()
}

func (d *drawer) leaf() string {
	return []string{`BIG`, `SMALL`, `IDENTITY`, `""`, `"a"`, `"%s%x"`, `"\"<&"`, `"\\0\\0"`, `string(ORDINAL)`}[d.IntN(9)]
}

func (d *drawer) pattern() string {
	return []string{`""`, `"x"`, `"(x)"`, `"x*"`, `"^(x+)(y?)"`, `"[a-z]{1,20}"`, `"."`, `"\\pL"`}[d.IntN(8)]
}

func (d *drawer) number() string { return []string{"0", "1", "3", "100"}[d.IntN(4)] }

func (d *drawer) text() string {
	return d.one(d.leaf,
		func() string { return d.text() + " + " + d.text() },
		func() string {
			return fmt.Sprintf("%s.replace(%s, %s)", d.inBrackets(), d.text(), d.text())
		},
		func() string {
			return fmt.Sprintf("%s.replace(%s, %s, %s)", d.inBrackets(), d.text(), d.text(), d.number())
		},
		func() string { return fmt.Sprintf("regex.replace(%s, %s, %s)", d.text(), d.pattern(), d.text()) },
		func() string {
			return fmt.Sprintf("regex.extract(%s, %s).orValue(%s)", d.text(), d.pattern(), d.text())
		},
		func() string { return fmt.Sprintf("%s.join(%s)", d.list(), d.text()) },
		func() string { return fmt.Sprintf("%s.format([%s, %s])", d.inBrackets(), d.text(), d.list()) },
		func() string { return fmt.Sprintf("strings.quote(%s)", d.text()) },
		func() string { return fmt.Sprintf("json.encode(%s)", d.list()) },
		func() string { return fmt.Sprintf("base64.encode(bytes(%s))", d.text()) },
		func() string { return fmt.Sprintf("string(base64.decode(%s))", d.text()) },
		func() string { return fmt.Sprintf("%s.substring(%s)", d.inBrackets(), d.number()) },
		func() string { return fmt.Sprintf("%s.upperAscii()", d.inBrackets()) },
		func() string { return fmt.Sprintf("%s[0]", d.list()) },
		func() string { return fmt.Sprintf("(%s ? %s : %s)", d.truth(), d.text(), d.text()) },
		func() string { return fmt.Sprintf("string(%s.indexOf(%s))", d.inBrackets(), d.text()) },
	)
}

func (d *drawer) inBrackets() string { return "(" + d.text() + ")" }

func (d *drawer) list() string {
	return d.one(func() string { return "[" + d.leaf() + "]" },
		func() string { return fmt.Sprintf("[%s, %s]", d.text(), d.text()) },
		func() string { return fmt.Sprintf("%s.split(%s)", d.inBrackets(), d.text()) },
		func() string { return fmt.Sprintf("%s.map(x, x.replace(%s, x))", d.list(), d.text()) },
		func() string { return fmt.Sprintf("%s.map(x, x + x)", d.list()) },
		func() string { return fmt.Sprintf("%s.filter(x, x != %s)", d.list(), d.text()) },
		func() string { return fmt.Sprintf("(%s + %s)", d.list(), d.list()) },
		func() string { return fmt.Sprintf("[%s, %s].flatten()", d.list(), d.list()) },
		func() string { return fmt.Sprintf("regex.extractAll(%s, %s)", d.text(), d.pattern()) },
		func() string { return fmt.Sprintf("%s.sort()", d.list()) },
		func() string { return fmt.Sprintf("%s.distinct()", d.list()) },
		func() string { return fmt.Sprintf("%s.reverse()", d.list()) },
		func() string { return fmt.Sprintf("lists.range(%s).map(i, %s)", d.number(), d.text()) },
	)
}

func (d *drawer) truth() string {
	return d.one(func() string { return d.leaf() + " == " + d.leaf() },
		func() string { return fmt.Sprintf("%s in %s", d.inBrackets(), d.list()) },
		func() string { return fmt.Sprintf("%s.matches(%s)", d.inBrackets(), d.pattern()) },
		func() string { return fmt.Sprintf("%s == %s", d.list(), d.list()) },
	)
}

// watched is a program that tells how long each text and list is that its calls give.
func watched(env *cel.Env, checked *cel.Ast, see func(value ref.Val)) (cel.Program, error) {
	return env.Program(checked, cel.CustomDecoratorV2(bounded(env)), cel.CostLimit(mostCost), cel.EvalOptions(cel.OptTrackCost),
		cel.CustomDecoratorV2(func(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
			if made, is := node.(call); is {
				apply := made.apply
				made.apply = func(a *account, args []ref.Val) ref.Val {
					value := apply(a, args)
					see(value)
					return value
				}
				return made, nil
			}
			return node, nil
		}))
}

// TestDrawnExpressionsStayWithinTheirBounds evaluates expressions that are accepted, and counts what they
// create. What CEL gives without bounds they give, too, or they are refused.
func TestDrawnExpressionsStayWithinTheirBounds(t *testing.T) {
	seed, drawn := uint64(1), 1000
	if testing.Short() {
		drawn = 200
	}
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, seed))}
	accepted, given, refused := 0, 0, 0
	for range drawn {
		expression := d.text()
		of := transforming(expression, map[string]string{"BIG": strings.Repeat("xy", 2048), "SMALL": "x-y"})
		r := New(of)
		if errs := r.Check(); len(errs) > 0 {
			continue
		}
		accepted++
		transforms, _ := r.compiled()
		c := compilation{known: of.parameters(Member{}), sizes: of.lengths(of.parameters(Member{}))}
		env, err := c.environment()
		if err != nil {
			t.Fatal(err)
		}
		created, longest := 0, 0
		program, err := watched(env, transforms[0].checked, func(value ref.Val) {
			switch value := value.(type) {
			case types.String, types.Bytes:
				created += long(value)
				longest = max(longest, long(value))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var value ref.Val
		took := allocated(func() { value, _, err = (*Evaluation)(nil).run(program, inputOf(of.parameters(Member{}))) })
		if longest > mostValue || created > mostCreated || took > mostAllocated {
			t.Errorf("seed %d: %s\ncreated %d bytes, the longest text has %d, and %d were allocated; want %d, %d and %d at most", seed, expression,
				created, longest, took, mostCreated, mostValue, mostAllocated)
		}
		if err != nil {
			refused++
			continue
		}
		given++
		if took > 1<<20 {
			continue // without bounds it could take any memory
		}
		plain, err := env.Program(transforms[0].checked, cel.CostLimit(mostCost), cel.EvalOptions(cel.OptTrackCost))
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := plain.Eval(inputOf(of.parameters(Member{})))
		if err != nil || want.Equal(value) != types.True {
			t.Errorf("%s: got %v, want what CEL gives, %v, error %v", expression, value, want, err)
		}
	}
	t.Logf("of %d expressions %d were accepted: %d gave a text, %d were refused or failed while they were evaluated", drawn, accepted, given,
		refused)
	if given < drawn/10 || refused == 0 {
		t.Errorf("%d expressions gave a text and %d were refused, want more: the draw is no test", given, refused)
	}
}
