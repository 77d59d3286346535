// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the kustomize component.
//
//	generate [--root DIR]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"statefulset.dev/test/gitops/component"
)

func main() {
	root := flag.String("root", "../..", "`directory` of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintf(os.Stderr, "generate: %v\n", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := component.Files(context.Background(), root)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "artifacts", "kustomize")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("writing a file of the component: %w", err)
		}
	}
	return nil
}
