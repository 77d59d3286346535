// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

const (
	publishedDocument = "openapi/v3/apps.statefulset.dev_v1.json"
	publishedSchemas  = "openapi/schemas"
)

// schemas writes the OpenAPI document from which clients are generated, and the JSON schemas of the
// kinds.
func (r *release) schemas(context.Context) error {
	document, err := os.ReadFile(filepath.Join(r.root, publishedDocument))
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	if err := r.write("openapi.json", document); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(r.root, publishedSchemas, "*", "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("finding schemas in %s: got %d, %w", publishedSchemas, len(files), err)
	}
	var entries []archived
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a schema: %w", err)
		}
		group := filepath.Base(filepath.Dir(file))
		entries = append(entries, archived{path.Join("schemas", group, filepath.Base(file)), 0o644, content})
	}
	archive, err := tarGz(r.created, entries)
	if err != nil {
		return err
	}
	return r.write("schemas.tar.gz", archive)
}
