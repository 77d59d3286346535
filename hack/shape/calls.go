// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/types"
)

// callPath is how many files a person may have to open who follows a key from the sync to the write of an object:
// those of functions of the controller and what is below it that term.sync leads to and that lead to
// execution.do. A function leads to those that it names; what is called through an interface or a value that was
// passed is not followed.
func callPath(s *source) (row, error) {
	calls, callers, where := s.callGraph()
	begin, end := s.method("term", "sync"), s.method("execution", "do")
	if begin == nil || end == nil {
		return row{}, fmt.Errorf("finding term.sync and execution.do in %s: found %v and %v", controller, begin, end)
	}
	down, up := closure(calls, begin), closure(callers, end)
	files, on := map[string]bool{}, 0
	for f := range down {
		if up[f] {
			on++
			files[where[f]] = true
		}
	}
	reached := map[string]bool{}
	for f := range down {
		reached[where[f]] = true
	}
	figures := fmt.Sprintf("%d / %d", len(files), len(reached))
	return row{"files on call paths from term.sync to the write / that term.sync leads to", figures}, nil
}

// callGraph is who names whom, by whom each is named, and the file of each.
func (s *source) callGraph() (calls, callers map[*types.Func][]*types.Func, where map[*types.Func]string) {
	calls, callers, where = map[*types.Func][]*types.Func{}, map[*types.Func][]*types.Func{}, map[*types.Func]string{}
	for path, p := range s.packages {
		for _, f := range functions(p) {
			from := f.object()
			where[from] = path + "/" + file(p, f.decl)
			used(p, f.decl, func(object types.Object) {
				if to, is := object.(*types.Func); is && to.Pkg() != nil && s.packages[to.Pkg().Path()] != nil {
					to = to.Origin()
					calls[from], callers[to] = append(calls[from], to), append(callers[to], from)
				}
			})
		}
	}
	return calls, callers, where
}

// method is a method of a type of the controller, nil if there is none.
func (s *source) method(of, name string) *types.Func {
	for _, f := range functions(s.packages[controller]) {
		if f.receiver() == of && f.decl.Name.Name == name {
			return f.object()
		}
	}
	return nil
}

func closure(edges map[*types.Func][]*types.Func, from *types.Func) map[*types.Func]bool {
	seen, next := map[*types.Func]bool{from: true}, []*types.Func{from}
	for len(next) > 0 {
		here := next[0]
		next = next[1:]
		for _, to := range edges[here] {
			if !seen[to] {
				seen[to], next = true, append(next, to)
			}
		}
	}
	return seen
}
