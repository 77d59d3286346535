// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command table prints the results of the fault suites. It reads the rows that they wrote, one JSON
// object per line, adds up the rows of the same fault, side and place, and prints them as a
// Markdown table. It fails if our side has a violation, because an interrupted suite may not have
// reported it.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: table FILE, the file with the rows of the fault suites")
		os.Exit(2)
	}
	if err := show(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "table: %v\n", err)
		os.Exit(1)
	}
}

func show(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the rows: %w", err)
	}
	defer file.Close()
	rows, err := read(file)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	fmt.Print(render(rows))
	if found := violationsOfOurs(rows); found > 0 {
		return fmt.Errorf("%d violations on our side, want 0", found)
	}
	return nil
}
