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

// keptDir is the directory, in a directory of images, with the files that the next run can reuse:
// the programs, which go build then links only if they are stale, and the digests of the inputs of
// each archive.
const keptDir = ".kept"

// place returns the directory in which the programs of an image are built: the kept directory, or
// else the temporary directory of the image.
func (s source) place(arch, dir string) (string, error) {
	if s.kept == "" {
		return dir, nil
	}
	dir = filepath.Join(s.kept, arch)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("creating a directory for programs: %w", err)
	}
	return dir, nil
}

// unlessKept writes the archive of an image, unless it exists and has the same inputs. The file
// with the digest of its inputs is removed before the archive is replaced, and written when the new
// archive is complete: an interrupted run must not leave an archive with the digest of another.
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
		return fmt.Errorf("removing the digest of the inputs of an image: %w", err)
	}
	if err := write(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.kept, 0o755); err != nil {
		return fmt.Errorf("creating a directory for the digests of inputs: %w", err)
	}
	if err := os.WriteFile(note, []byte(inputs), 0o600); err != nil {
		return fmt.Errorf("writing the digest of the inputs of an image: %w", err)
	}
	return nil
}

func isMadeOf(archive, note, inputs string) bool {
	_, err := os.Stat(archive)
	noted, missing := os.ReadFile(note)
	return err == nil && missing == nil && string(noted) == inputs
}

// inputs returns a digest of all inputs of an archive: the layers and the metadata of the image,
// and this program.
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
		return "", fmt.Errorf("encoding the metadata of an image: %w", err)
	}
	digest := sha256.New()
	for _, part := range append([][]byte{program, said}, layers...) {
		fmt.Fprintf(digest, "%x\n", sha256.Sum256(part))
	}
	return fmt.Sprintf("%x", digest.Sum(nil)), nil
}
