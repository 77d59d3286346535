// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	chartName = "statefulset-apiserver"

	// The lines of values.yaml with the digests of the images.
	serverDigest = "\n  digest: \"\"\n"
	pluginDigest = "\n    digest: \"\"\n"
)

// chart writes the archive of the chart, with the version and the images of this release.
func (r *release) chart(context.Context) error {
	var entries []archived
	root := os.DirFS(filepath.Join(r.root, "artifacts", "chart"))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		switch name {
		case "Chart.yaml":
			content, err = replaceEach(content, map[string]string{
				"\nversion: 0.0.0-dev\n": "\nversion: " + r.number() + "\n",
				"\nappVersion: dev\n":    "\nappVersion: " + r.version + "\n",
			})
		case "values.yaml":
			content, err = replaceEach(content, map[string]string{
				"repository: " + serverImage + "\n": "repository: " + r.registry + "/" + serverImage + "\n",
				"repository: " + pluginImage + "\n": "repository: " + r.registry + "/" + pluginImage + "\n",
				serverDigest:                        strings.Replace(serverDigest, `""`, r.digests[serverImage], 1),
				pluginDigest:                        strings.Replace(pluginDigest, `""`, r.digests[pluginImage], 1),
			})
		}
		entries = append(entries, archived{path.Join(chartName, name), 0o644, content})
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the chart: %w", err)
	}
	archive, err := tarGz(r.created, entries)
	if err != nil {
		return err
	}
	return r.write(chartName+"-"+r.number()+".tgz", archive)
}

// replaceEach replaces words, each of which must occur exactly once.
func replaceEach(text []byte, words map[string]string) ([]byte, error) {
	changed := string(text)
	for old, replacement := range words {
		if n := strings.Count(changed, old); n != 1 {
			return nil, fmt.Errorf("%q occurs %d times, want once", old, n)
		}
		changed = strings.Replace(changed, old, replacement, 1)
	}
	return []byte(changed), nil
}
