// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// keptDir is where a directory of images has what the next run need not make again: the programs,
// which go build then links only if they are stale, and what each archive was made of.
const keptDir = ".kept"

// place is where a program of an image is built: where it is kept, or else in a directory that is
// made for one image.
func (s source) place(arch, program, dir string) (string, error) {
	if s.kept == "" {
		return filepath.Join(dir, program), nil
	}
	dir = filepath.Join(s.kept, arch)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making a directory for programs: %w", err)
	}
	return filepath.Join(dir, program), nil
}

// inputs is a digest of all that the archive of an image is made of: what is in it, what is said of
// it, and the program that makes it.
func (spec imageSpec) inputs(files map[string]map[string]string, created time.Time) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	digest := sha256.New()
	if err := json.NewEncoder(digest).Encode([]any{spec.reference, spec.arch, spec.entrypoint, spec.path, spec.user, created}); err != nil {
		return "", fmt.Errorf("digesting what is said of an image: %w", err)
	}
	if err := digestFile(digest, "", self); err != nil {
		return "", err
	}
	for _, arch := range spec.arch {
		for _, to := range slices.Sorted(maps.Keys(files[arch])) {
			if err := digestFile(digest, path.Join("/", arch, to), files[arch][to]); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%x", digest.Sum(nil)), nil
}

// digestFile adds a file, or where a link leads to.
func digestFile(digest io.Writer, name, file string) error {
	if target, err := os.Readlink(file); err == nil {
		_, err := fmt.Fprintf(digest, "link %q %q\n", name, target)
		return err
	}
	content, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("digesting what an image is made of: %w", err)
	}
	defer content.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return fmt.Errorf("digesting what an image is made of: %w", err)
	}
	_, err = fmt.Fprintf(digest, "file %q %x\n", name, sum.Sum(nil))
	return err
}

// isKept reports whether an archive is there that was made of these inputs.
func (s source) isKept(archive, inputs string) bool {
	if s.kept == "" {
		return false
	}
	_, err := os.Stat(archive)
	of, missing := os.ReadFile(s.inputsFile(archive))
	return err == nil && missing == nil && string(of) == inputs
}

// forget removes the note of an archive before another one takes its place: a run that ends between
// the two must not leave the one with the note of the other.
func (s source) forget(archive string) error {
	if s.kept == "" {
		return nil
	}
	if err := os.Remove(s.inputsFile(archive)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting what an image was made of: %w", err)
	}
	return nil
}

// keep notes what an archive was made of, once it is in place.
func (s source) keep(archive, inputs string) error {
	if s.kept == "" {
		return nil
	}
	if err := os.MkdirAll(s.kept, 0o755); err != nil {
		return fmt.Errorf("making a directory for what images are made of: %w", err)
	}
	if err := os.WriteFile(s.inputsFile(archive), []byte(inputs), 0o600); err != nil {
		return fmt.Errorf("noting what an image is made of: %w", err)
	}
	return nil
}

func (s source) inputsFile(archive string) string {
	return filepath.Join(s.kept, filepath.Base(archive)+".inputs")
}
