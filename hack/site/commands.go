// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// serverPage has all commands of the server.
func serverPage(dir string) (string, error) {
	return commandPage(dir, "statefulset-apiserver", "The commands and flags of statefulset-apiserver, as the program tells them.",
		func(string) bool { return true })
}

// pluginPage has the commands of the plugin that kubectl does not have, or that do more than kubectl's.
func pluginPage(dir string) (string, error) {
	extended := []string{
		"plan", "tree", "doctor", "reclaim", "evaluate", "migrate", "install", "uninstall", "version", "scale", "replace", "delete", "rollout"}
	text := "The commands that kubectl does not have, and those that do more than kubectl's, as the plugin tells them. All others are kubectl's own, with the same flags: [kubectl](../kubectl.md)."
	return commandPage(dir, "kubectl-sts", text, func(name string) bool {
		first, _, _ := strings.Cut(name, "-")
		return slices.Contains(extended, first)
	})
}

// commandPage joins the pages of a program's commands.
func commandPage(dir, program, text string, wanted func(name string) bool) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, program+"*.md"))
	if err != nil {
		return "", fmt.Errorf("listing commands: %w", err)
	}
	if len(files) == 0 {
		return "", fmt.Errorf("there is no page of %s in %q, which TestManPages writes with COMMAND_PAGES", program, dir)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(strings.TrimSuffix(a, ".md"), strings.TrimSuffix(b, ".md")) })
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n%s\n", program, text)
	for _, file := range files {
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".md"), program)
		if name = strings.TrimPrefix(name, "-"); name != "" && !wanted(name) {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading the page of a command: %w", err)
		}
		page.WriteString("\n" + string(content))
	}
	return page.String(), nil
}
