// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// The maximum sizes of outputs, in bytes.
const (
	mostOfOutputExpression = 1 << 10
	mostOfOutput           = 1 << 10
)

// live is the variable of an output with the object in the host cluster.
const live = "object"

// Output is a value of an object for pods.
type Output struct {
	Value string
	// Missing is the reason why there is no value. It is empty if there is a value, which may be an
	// empty string.
	Missing string
}

// output is an output that can be evaluated.
type output struct {
	name    string
	program cel.Program
}

// withObject is the language with the object as the only variable.
func withObject() (*cel.Env, error) {
	base, err := language()
	if err != nil {
		return nil, err
	}
	return base.Extend(cel.Variable(live, cel.DynType))
}

// compileOutputs compiles the outputs, or returns the error in each.
func (o *Object) compileOutputs() (all []output, errs []*Error) {
	if len(o.template.Outputs) == 0 {
		return nil, nil
	}
	env, err := withObject()
	if err != nil {
		return nil, []*Error{errorf(o.in+".outputs", "", "", "%s", err)}
	}
	for i, written := range o.template.Outputs {
		program, err := outputOf(env, written.Expression)
		if err != nil {
			errs = append(errs, errorf(fmt.Sprintf("%s.outputs[%d]", o.in, i), "expression", short(written.Expression), "%s", err))
			continue
		}
		all = append(all, output{written.Name, program})
	}
	return all, errs
}

// outputOf compiles an expression that reads a field, and whose result can be a string.
func outputOf(env *cel.Env, text string) (cel.Program, error) {
	if len(text) > mostOfOutputExpression {
		return nil, fmt.Errorf("must have at most %d bytes", mostOfOutputExpression)
	}
	if err := judgeReads(text); err != nil {
		return nil, err
	}
	checked, err := compiled(env, text)
	if err != nil {
		return nil, err
	}
	if given := checked.OutputType(); given.Kind() != types.StringKind && given.Kind() != types.DynKind {
		return nil, fmt.Errorf("gives %s, but must give a string; use string(...) to convert a number", given)
	}
	return programOf(env, checked)
}

// reading are the functions and macros that outputs can use. None of them makes a string longer.
func reading() []string {
	return append(constants(),
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In,
		operators.Has, operators.All, operators.Exists, operators.ExistsOne, "existsOne", operators.Filter, operators.Map, "optMap", "optFlatMap",
		"string", "int", "uint", "double", "bool", "size", "contains", "startsWith", "endsWith", "matches", "regex.extract",
		"indexOf", "lastIndexOf", "substring", "charAt", "trim", "split", "lowerAscii", "upperAscii", "base64.decode",
	)
}

// judgeReads rejects functions that make strings longer, in the expression before macros are
// expanded.
func judgeReads(text string) (err error) {
	parsed, err := parse(text)
	if err != nil {
		return err
	}
	ast.PostOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if err != nil || e.Kind() != ast.CallKind {
			return
		}
		if name := qualified(e); !slices.Contains(reading(), name) {
			at := parsed.SourceInfo().GetStartLocation(e.ID())
			err = fmt.Errorf("%s: outputs only read fields, so %s is not allowed; to join outputs, name both in a container, as in $(HOST):$(PORT)",
				position(at), displayed(name))
		}
	}))
	return err
}

// qualified is the name of the called function with its namespace. Before names are resolved, the
// namespace is the target of the call.
func qualified(e ast.Expr) string {
	name := e.AsCall().FunctionName()
	if e.AsCall().IsMemberFunction() && e.AsCall().Target().Kind() == ast.IdentKind {
		namespace := e.AsCall().Target().AsIdent()
		if slices.Contains([]string{"regex", "base64", "optional", "math", "strings", "lists", "json"}, namespace) {
			return namespace + "." + name
		}
	}
	return name
}

// EvaluateOutputs evaluates the outputs of an object in the host cluster, and returns them by name.
func (o *Object) EvaluateOutputs(object map[string]any) map[string]Output {
	programs, errs := o.outputs()
	all := make(map[string]Output, len(programs))
	for _, output := range programs {
		value, err := output.evaluate(o.source.Evaluation, object)
		if err != nil {
			all[output.name] = Output{Missing: err.Error()}
			continue
		}
		all[output.name] = Output{Value: value}
	}
	if len(errs) > 0 {
		for _, written := range o.template.Outputs {
			if _, is := all[written.Name]; !is {
				all[written.Name] = Output{Missing: errs[0].Detail}
			}
		}
	}
	return all
}

func (o output) evaluate(e *Evaluation, object map[string]any) (string, error) {
	result, _, err := e.run(o.program, map[string]any{live: object})
	if err != nil {
		return "", err //nolint:wrapcheck // it names what is missing
	}
	return textOf(result)
}

// textOf returns a result that can be the value of an environment variable.
func textOf(result ref.Val) (string, error) {
	text, is := result.(types.String)
	switch {
	case !is:
		return "", fmt.Errorf("gives a value of type %s, not a string", result.Type().TypeName())
	case len(text) > mostOfOutput:
		return "", fmt.Errorf("gives %d bytes, at most %d are allowed", len(text), mostOfOutput)
	case strings.ContainsRune(string(text), 0):
		return "", errors.New("gives a string with a zero byte")
	default:
		return string(text), nil
	}
}
