// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command page writes a run of the benchmarks into a page, between its marks.
package main

import (
	"fmt"
	"os"

	"statefulset.dev/test/bench/measure"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: page RUN PAGE, the JSON file of a run, and the Markdown file that describes it")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "page: %v\n", err)
		os.Exit(1)
	}
}

func write(from, to string) error {
	run, err := measure.Load(from)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(to)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	written, err := measure.Insert(string(page), run.Page())
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	if err := os.WriteFile(to, []byte(written), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
