// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command table prints the results of the tests of package items, one row for each item, from the
// output of go test -json, and fails unless all of them passed.
//
//	table packages            the packages with tests that need no cluster
//	table pattern PACKAGE     the tests to run there, as a regular expression
//	table follow              the output of the tests, without the JSON around it
//	table results FILE        the table
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"statefulset.dev/test/security/items"
)

const module = "statefulset.dev/"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "table: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "packages":
		fmt.Fprintln(out, strings.Join(items.Packages(), "\n"))
		return nil
	case len(args) == 2 && args[0] == "pattern":
		fmt.Fprintln(out, items.Pattern(args[1]))
		return nil
	case len(args) == 1 && args[0] == "follow":
		return follow(os.Stdin, out)
	case len(args) == 2 && args[0] == "results":
		file, err := os.Open(args[1])
		if err != nil {
			return fmt.Errorf("opening the results: %w", err)
		}
		defer file.Close()
		results, err := read(file)
		if err != nil {
			return fmt.Errorf("reading the results: %w", err)
		}
		return write(out, results)
	}
	return fmt.Errorf("got %q, want packages, pattern PACKAGE, follow, or results FILE", args)
}

// follow prints the output of tests.
func follow(from io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Output string }
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Output != "" && !strings.HasPrefix(event.Output, "=== ") {
			fmt.Fprint(out, event.Output)
		}
	}
	return lines.Err()
}

// read returns the result of each test.
func read(from io.Reader) (map[items.Test]string, error) {
	results := map[items.Test]string{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" {
			continue
		}
		switch event.Action {
		case "pass", "fail", "skip":
			results[items.Test{Package: strings.TrimPrefix(event.Package, module), Name: event.Test}] = event.Action
		}
	}
	return results, lines.Err()
}

// write prints the table. Tests that did not run have not passed.
func write(out io.Writer, results map[items.Test]string) error {
	var bad []string
	fmt.Fprintf(out, "%-4s%-27s%-8s%s\n", "", "ITEM", "RESULT", "TESTS")
	for _, item := range items.All() {
		result, tests := "ok", ""
		for i, test := range item.Tests {
			end := results[test]
			if i > 0 {
				tests += ", "
			}
			tests += test.Name
			if end == "pass" {
				continue
			}
			result = "FAILED"
			tests += " (" + map[string]string{"": "did not run", "skip": "skipped", "fail": "failed"}[end] + ")"
		}
		if result != "ok" {
			bad = append(bad, item.Name)
		}
		fmt.Fprintf(out, "%-4d%-27s%-8s%s\n", item.Number, item.Name, result, tests)
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d items failed: %s", len(bad), len(items.All()), strings.Join(bad, ", "))
	}
	return nil
}
