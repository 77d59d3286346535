// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keptDir is where a directory of images has what the next run need not make again: the programs,
// which go build then links only if they are stale, and what each archive was made of.
const keptDir = ".kept"

// place is where programs of an image are built: where they are kept, or else in a directory that
// is made for one image.
func (s source) place(arch, dir string) (string, error) {
	if s.kept == "" {
		return dir, nil
	}
	dir = filepath.Join(s.kept, arch)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making a directory for programs: %w", err)
	}
	return dir, nil
}

// unlessKept writes the archive of an image, unless it is there and was made of the same. The note
// of what it was made of goes before another archive may take its place, and comes when that is
// whole: a run that ends between must not leave the one with the note of the other.
func (s source) unlessKept(spec imageSpec, layers [][]byte, created time.Time, archive string, write func() error) error {
	if s.kept == "" {
		return write()
	}
	inputs, err := spec.inputs(layers, created)
	if err != nil {
		return err
	}
	note := filepath.Join(s.kept, filepath.Base(archive)+".inputs")
	if isMadeOf(archive, note, inputs) {
		return nil
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting what an image was made of: %w", err)
	}
	if err := write(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.kept, 0o755); err != nil {
		return fmt.Errorf("making a directory for what images are made of: %w", err)
	}
	if err := os.WriteFile(note, []byte(inputs), 0o600); err != nil {
		return fmt.Errorf("noting what an image is made of: %w", err)
	}
	return nil
}

func isMadeOf(archive, note, inputs string) bool {
	_, err := os.Stat(archive)
	noted, missing := os.ReadFile(note)
	return err == nil && missing == nil && string(noted) == inputs
}

// inputs is a digest of all that the archive of an image is made of: what is in it, what is said of
// it, and the program that makes it.
func (spec imageSpec) inputs(layers [][]byte, created time.Time) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	said, err := json.Marshal([]any{spec.reference, spec.arch, spec.entrypoint, spec.path, spec.user, created})
	if err != nil {
		return "", fmt.Errorf("writing what is said of an image: %w", err)
	}
	digest := sha256.New()
	for _, part := range append([][]byte{program, said}, layers...) {
		fmt.Fprintf(digest, "%x\n", sha256.Sum256(part))
	}
	return fmt.Sprintf("%x", digest.Sum(nil)), nil
}
