// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command shape measures the structure of the controller from its source, and prints a row for each figure. It shows
// whether a change of the structure made it better. Test files do not count.
//
//	go run ./hack/shape
package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"golang.org/x/tools/go/packages"
)

const (
	controller = "statefulset.dev/controller"
	plan       = controller + "/plan"
)

// row is a figure, and what it counts.
type row struct{ what, figure string }

func main() {
	if err := measure(); err != nil {
		fmt.Fprintf(os.Stderr, "shape: %v\n", err)
		os.Exit(1)
	}
}

func measure() error {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, controller+"/...")
	if err != nil {
		return fmt.Errorf("loading the controller: %w", err)
	}
	code := &source{packages: map[string]*packages.Package{}}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return fmt.Errorf("loading %s: %w", p.PkgPath, p.Errors[0])
		}
		code.packages[p.PkgPath] = p
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, figure := range []func(*source) (row, error){facts, planner, cycles, callPath, memo, supporting} {
		r, err := figure(code)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\t%s\n", r.what, r.figure)
	}
	return out.Flush()
}
