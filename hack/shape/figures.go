// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/go/packages"
)

// facts is the size of the value that all rules of the planner read.
func facts(s *source) (row, error) {
	structure, err := s.structure(plan, "facts")
	if err != nil {
		return row{}, err
	}
	methods := 0
	for _, f := range functions(s.packages[plan]) {
		if f.receiver() == "facts" {
			methods++
		}
	}
	return row{"fields of plan.facts / methods on it", fmt.Sprintf("%d / %d", structure.NumFields(), methods)}, nil
}

// planner is the size of package plan.
func planner(s *source) (row, error) {
	p := s.packages[plan]
	return row{"functions and methods of plan / files", fmt.Sprintf("%d / %d", len(functions(p)), len(p.Syntax))}, nil
}

// cycles is how much of what the files of package plan use of each other is inside of cycles of files: a use
// counts if the file that it leads to leads back, by whatever way. A use is one name in one file that another
// file declares.
func cycles(s *source) (row, error) {
	uses := usesBetweenFiles(s.packages[plan])
	inside, all := 0, 0
	for from, targets := range uses {
		for to, n := range targets {
			all += n
			if reaches(uses, to, from) {
				inside += n
			}
		}
	}
	return row{"uses between files of plan / in cycles of files", fmt.Sprintf("%d / %d (%d %%)", all, inside, 100*inside/max(all, 1))}, nil
}

func usesBetweenFiles(p *packages.Package) map[string]map[string]int {
	uses := map[string]map[string]int{}
	for _, syntax := range p.Syntax {
		from := file(p, syntax)
		seen := map[types.Object]bool{}
		used(p, syntax, func(object types.Object) {
			if object.Pkg() != p.Types || seen[object] || !declaredOutside(p, object) {
				return
			}
			seen[object] = true
			to := filepath.Base(p.Fset.Position(object.Pos()).Filename)
			if to == from {
				return
			}
			if uses[from] == nil {
				uses[from] = map[string]int{}
			}
			uses[from][to]++
		})
	}
	return uses
}

// declaredOutside reports whether something is declared outside of functions: at the top of a file, or as a
// method or field of what is.
func declaredOutside(p *packages.Package, object types.Object) bool {
	if object.Parent() == p.Types.Scope() {
		return true
	}
	switch o := object.(type) {
	case *types.Func:
		return true
	case *types.Var:
		return o.IsField()
	}
	return false
}

func reaches(uses map[string]map[string]int, from, to string) bool {
	seen, next := map[string]bool{from: true}, []string{from}
	for len(next) > 0 {
		here := next[0]
		next = next[1:]
		if here == to {
			return true
		}
		for target := range uses[here] {
			if !seen[target] {
				seen[target], next = true, append(next, target)
			}
		}
	}
	return false
}

// memo is the size of what the controller remembers of a set, and how much of that is about supporting objects:
// methods that use its field objects, or that stand in a file of theirs.
func memo(s *source) (row, error) {
	structure, err := s.structure(controller, "setState")
	if err != nil {
		return row{}, err
	}
	p := s.packages[controller]
	methods, theirs := 0, 0
	for _, f := range functions(p) {
		if f.receiver() != "setState" {
			continue
		}
		methods++
		is := aboutObjects.MatchString(file(p, f.decl))
		used(p, f.decl, func(object types.Object) {
			v, isVar := object.(*types.Var)
			is = is || isVar && v.IsField() && v.Name() == "objects" && contains(structure, v)
		})
		if is {
			theirs++
		}
	}
	return row{"methods of controller.setState / about supporting objects", fmt.Sprintf("%d / %d", methods, theirs)}, nil
}

func contains(structure *types.Struct, field *types.Var) bool {
	for f := range structure.Fields() {
		if f == field {
			return true
		}
	}
	return false
}

// aboutObjects are the names of the files of the controller that exist for supporting objects alone.
var aboutObjects = regexp.MustCompile(`^(objects.*|.*_objects|execute_generated|execute_retention)\.go$`)

// supporting is how much of package controller exists for supporting objects alone.
func supporting(s *source) (row, error) {
	p := s.packages[controller]
	all, theirs := 0, 0
	for _, path := range p.CompiledGoFiles {
		content, err := os.ReadFile(path)
		if err != nil {
			return row{}, fmt.Errorf("counting the lines of a file: %w", err)
		}
		lines := strings.Count(string(content), "\n")
		all += lines
		if aboutObjects.MatchString(filepath.Base(path)) {
			theirs += lines
		}
	}
	return row{"lines of controller / for supporting objects alone", fmt.Sprintf("%d / %d (%d %%)", all, theirs, 100*theirs/max(all, 1))}, nil
}
