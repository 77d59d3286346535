// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command prose measures pages of Markdown: how many words a sentence has on average. Tables, code and headings do not
// count. It fails if a page has more than the limit. For Go files it writes what people read of them, for Vale.
//
//	go run ./hack/prose [-limit 16] PAGE...
//	go run ./hack/prose -views DIRECTORY FILE.go...
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	limit := flag.Float64("limit", 16, "most words that a sentence of a page may have on average")
	views := flag.String("views", "", "directory for the views of Go files")
	flag.Parse()
	run := func() error { return check(flag.Args(), *limit) }
	if *views != "" {
		run = func() error { return writeViews(*views, flag.Args()) }
	}
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "prose: %v\n", err)
		os.Exit(1)
	}
}

func check(paths []string, limit float64) error {
	long := 0
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading a page: %w", err)
		}
		if m := measured(content); m.average() > limit {
			long++
			fmt.Printf("%s: a sentence has %.1f words on average, want at most %g; the longest, %d words, begins with %q\n",
				path, m.average(), limit, m.longest, m.beginning)
		}
	}
	if long > 0 {
		return fmt.Errorf("%d of %d pages have sentences that are too long", long, len(paths))
	}
	return nil
}
