// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// source is the code that is measured.
type source struct{ packages map[string]*packages.Package }

// function is one that the source declares.
type function struct {
	of   *packages.Package
	decl *ast.FuncDecl
}

// object is what the type checker calls the function.
func (f function) object() *types.Func {
	object, _ := f.of.TypesInfo.Defs[f.decl.Name].(*types.Func)
	return object
}

// receiver is the name of the type whose method the function is, empty if it is none.
func (f function) receiver() string {
	if recv := f.object().Signature().Recv(); recv != nil {
		t := recv.Type()
		if pointer, is := t.(*types.Pointer); is {
			t = pointer.Elem()
		}
		if named, is := t.(*types.Named); is {
			return named.Obj().Name()
		}
	}
	return ""
}

// file is the name of the file of a node.
func file(of *packages.Package, node ast.Node) string {
	return filepath.Base(of.Fset.Position(node.Pos()).Filename)
}

// functions are those of a package.
func functions(of *packages.Package) (all []function) {
	for _, syntax := range of.Syntax {
		for _, decl := range syntax.Decls {
			if f, is := decl.(*ast.FuncDecl); is {
				all = append(all, function{of, f})
			}
		}
	}
	return all
}

// used visits what a node refers to.
func used(of *packages.Package, node ast.Node, visit func(types.Object)) {
	ast.Inspect(node, func(n ast.Node) bool {
		if name, is := n.(*ast.Ident); is {
			if object := of.TypesInfo.Uses[name]; object != nil {
				visit(object)
			}
		}
		return true
	})
}

// structure is the struct type of a name in a package.
func (s *source) structure(path, name string) (*types.Struct, error) {
	object := s.packages[path].Types.Scope().Lookup(name)
	if object == nil {
		return nil, fmt.Errorf("finding %s in %s: there is none", name, path)
	}
	structure, is := object.Type().Underlying().(*types.Struct)
	if !is {
		return nil, fmt.Errorf("reading %s of %s: want a struct, got %s", name, path, object.Type().Underlying())
	}
	return structure, nil
}
