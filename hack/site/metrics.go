// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// metric is one that the code makes.
type metric struct{ name, kind, help, labels string }

// metricsPage lists what the code makes with component-base's metrics. Those of Kubernetes' own libraries come on top.
func metricsPage(root string) (string, error) {
	var all []metric
	for _, part := range []string{"apiserver", "controller", "registry", "store", "window", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			found, err := metricsOf(path)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	if len(all) == 0 {
		return "", errors.New("the code has no metrics, so they are not looked for in the right way")
	}
	slices.SortFunc(all, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	var page strings.Builder
	page.WriteString(
		"# Metrics\n\nWhat the server has at `/metrics` besides the metrics of Kubernetes' libraries, for requests, etcd, queues and Go. Written from the code.\n\n| metric | kind | labels | |\n|---|---|---|---|\n")
	for _, m := range all {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", m.name, m.kind, m.labels, cell(m.help))
	}
	return page.String(), nil
}

// metricsOf finds calls such as metrics.NewGaugeVec(&metrics.GaugeOpts{...}, labels). In a function that makes several, names are
// parameters, and each call of it is a metric.
func metricsOf(path string) ([]metric, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	var all []metric
	makers := map[string]maker{}
	ast.Inspect(file, func(n ast.Node) bool {
		if assigned, ok := n.(*ast.AssignStmt); ok && len(assigned.Rhs) == 1 {
			if f, ok := assigned.Rhs[0].(*ast.FuncLit); ok {
				if m, ok := makerOf(f); ok {
					makers[assigned.Lhs[0].(*ast.Ident).Name] = m
					return false
				}
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name, ok := call.Fun.(*ast.Ident); ok && makers[name.Name].call != nil {
			m := makers[name.Name]
			all = append(all, m.metric(call.Args))
		} else if isMetric(call) {
			all = append(all, maker{call: call}.metric(nil))
		}
		return true
	})
	for _, m := range all {
		if m.name == "" || m.help == "" {
			return nil, fmt.Errorf("%s makes a metric whose name or help is neither a text nor a parameter: %+v", path, m)
		}
	}
	return all, nil
}

func isMetric(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	from, ok := f.X.(*ast.Ident)
	return ok && from.Name == "metrics" && strings.HasPrefix(f.Sel.Name, "New") && optionsOf(call) != nil
}

// optionsOf is the literal of the options of a metric.
func optionsOf(call *ast.CallExpr) *ast.CompositeLit {
	pointer, ok := call.Args[0].(*ast.UnaryExpr)
	if !ok {
		return nil
	}
	options, ok := pointer.X.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	return options
}

// maker is a call that makes a metric, and the parameters of the function that it is in.
type maker struct {
	call       *ast.CallExpr
	parameters []string
}

func makerOf(f *ast.FuncLit) (m maker, ok bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is && isMetric(call) {
			m.call = call
		}
		return true
	})
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			m.parameters = append(m.parameters, name.Name)
		}
	}
	return m, m.call != nil
}

func (m maker) metric(arguments []ast.Expr) metric {
	values := map[string]string{}
	for _, element := range optionsOf(m.call).Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			values[pair.Key.(*ast.Ident).Name] = m.text(pair.Value, arguments)
		}
	}
	var parts []string
	for _, part := range []string{values["Namespace"], values["Subsystem"], values["Name"]} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	kind := strings.TrimSuffix(strings.TrimPrefix(m.call.Fun.(*ast.SelectorExpr).Sel.Name, "New"), "Vec")
	found := metric{name: strings.Join(parts, "_"), kind: strings.ToLower(kind), help: values["Help"]}
	if values["Name"] == "" {
		found.name = ""
	}
	if len(m.call.Args) > 1 {
		if labels, ok := m.call.Args[1].(*ast.CompositeLit); ok {
			var names []string
			for _, label := range labels.Elts {
				names = append(names, "`"+m.text(label, arguments)+"`")
			}
			found.labels = strings.Join(names, ", ")
		}
	}
	return found
}

// text is a literal, or what is given for a parameter.
func (m maker) text(value ast.Expr, arguments []ast.Expr) string {
	switch value := value.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(value.Value); err == nil {
			return text
		}
	case *ast.Ident:
		if i := slices.Index(m.parameters, value.Name); i >= 0 && i < len(arguments) {
			return m.text(arguments[i], nil)
		}
	}
	return ""
}
