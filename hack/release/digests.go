// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// digestsFile has a line "DIGEST  REFERENCE" for each image.
const digestsFile = "IMAGE-DIGESTS"

// writeDigests writes and signs the digests of the images, because tags can change later.
func (r *release) writeDigests(ctx context.Context) error {
	var lines strings.Builder
	for _, image := range slices.Sorted(maps.Keys(r.digests)) {
		fmt.Fprintf(&lines, "%s  %s\n", r.digests[image], r.reference(image))
	}
	if err := r.write(digestsFile, []byte(lines.String())); err != nil {
		return err
	}
	return r.sign(ctx, digestsFile)
}

// digestOf returns the digest of the only image in an archive of an OCI layout.
func digestOf(archive string) (string, error) {
	file, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer file.Close()
	for entries := tar.NewReader(file); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("%s has no index.json", archive)
		}
		if err != nil {
			return "", err
		}
		if path.Clean(header.Name) != "index.json" {
			continue
		}
		var index struct {
			Manifests []struct {
				Digest string `json:"digest"`
			} `json:"manifests"`
		}
		if err := json.NewDecoder(entries).Decode(&index); err != nil {
			return "", err
		}
		if len(index.Manifests) != 1 {
			return "", fmt.Errorf("%s has %d images, want one", archive, len(index.Manifests))
		}
		return index.Manifests[0].Digest, nil
	}
}

// readDigests reads the digests that a release has written, by the names of the images. It returns
// none if the release was not created here.
func readDigests(file string) (map[string]string, error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the digests of the release: %w", err)
	}
	digests := map[string]string{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("%s has the line %q, want DIGEST REFERENCE", file, strings.TrimSpace(line))
		}
		name, _, _ := strings.Cut(path.Base(fields[1]), ":")
		digests[name] = fields[0]
	}
	return digests, nil
}
