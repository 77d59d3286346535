// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command site puts the pages of the documentation site together: those of this repository, with links that lead to where things
// are on the site, and reference pages, which it writes from the OpenAPI document, from the code, and from what the commands say of
// themselves.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the repository")
	commands := flag.String("commands", "", "where the pages of commands are")
	out := flag.String("out", "site/.pages", "where the pages of the site go; what is there is removed")
	flag.Parse()
	if err := build(*root, *commands, *out); err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
}

func build(root, commands, out string) error {
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("removing the pages of before: %w", err)
	}
	s := site{root: root, out: out, pages: places()}
	if err := s.copyPages(); err != nil {
		return err
	}
	for name, write := range map[string]func() (string, error){
		"reference/api.md":                   func() (string, error) { return apiPage(filepath.Join(root, document)) },
		"reference/metrics.md":               func() (string, error) { return metricsPage(root) },
		"reference/conditions.md":            func() (string, error) { return reasonsPage(filepath.Join(root, "api/apps/v1")) },
		"reference/statefulset-apiserver.md": func() (string, error) { return serverPage(commands) },
		"reference/kubectl-sts.md":           func() (string, error) { return pluginPage(commands) },
	} {
		text, err := write()
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		if err := s.write(name, text); err != nil {
			return err
		}
	}
	sections, err := s.sections()
	if err != nil {
		return err
	}
	if err := s.writeJSON("sections.json", sections); err != nil {
		return err
	}
	return s.writeJSON("sources.json", s.sources())
}
