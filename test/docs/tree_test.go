// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"statefulset.dev/test/docs/page"
)

const root = "../.."

// patterns are where pages are, from the root.
func patterns() []string {
	return []string{"*.md", "docs/*.md", "docs/*/*.md", "client/*.md", "sdk/*/*.md", "test/cluster/*.md"}
}

// pages are all that we have.
func pages() ([]page.Page, error) {
	var all []page.Page
	for _, pattern := range patterns() {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("looking for pages: %w", err)
		}
		slices.Sort(found)
		for _, path := range found {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("reading a page: %w", err)
			}
			from, err := filepath.Rel(root, path)
			if err != nil {
				return nil, fmt.Errorf("naming page %s: %w", path, err)
			}
			all = append(all, page.Parse(filepath.ToSlash(from), string(content)))
		}
	}
	return all, nil
}
