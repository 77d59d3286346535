// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// clients writes the packages of the clients for TypeScript, Python and Java. It repacks them,
// because the packages of the tools depend on the time, and some on the order of the files on disk.
func (r *release) clients(ctx context.Context) error {
	to := filepath.Join(r.work, "packages")
	cmd := exec.CommandContext(ctx, "hack/sdk.sh")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "VERSION="+r.version, "PACKAGES="+to)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w:\n%s", cmd, err, output)
	}
	files, err := os.ReadDir(to)
	if err != nil {
		return fmt.Errorf("listing packages: %w", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(to, file.Name()))
		if err != nil {
			return fmt.Errorf("reading a package: %w", err)
		}
		if content, err = repack(file.Name(), content, r.created); err != nil {
			return fmt.Errorf("repacking %s: %w", file.Name(), err)
		}
		if err := r.write(file.Name(), content); err != nil {
			return err
		}
	}
	return nil
}

// repack returns an archive with the same files, whose bytes depend only on the arguments.
func repack(name string, content []byte, created time.Time) ([]byte, error) {
	switch {
	case strings.HasSuffix(name, ".jar"):
		return repackJar(content, created)
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return repackTarGz(content, created)
	default:
		return nil, errors.New("want .jar, .tgz or .tar.gz")
	}
}

func repackTarGz(content []byte, created time.Time) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var entries []archived
	for from := tar.NewReader(unzipped); ; {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(from)
		if err != nil {
			return nil, err
		}
		entries = append(entries, archived{h.Name, h.Mode & 0o755, text})
	}
	slices.SortFunc(entries, func(a, b archived) int { return strings.Compare(a.name, b.name) })
	return tarGz(created, entries)
}

// manifestDir is the directory that tools expect at the beginning of a jar.
const manifestDir = "META-INF/"

func repackJar(content []byte, created time.Time) ([]byte, error) {
	from, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(from.File, func(a, b *zip.File) int {
		if first := strings.HasPrefix(a.Name, manifestDir); first != strings.HasPrefix(b.Name, manifestDir) {
			return map[bool]int{true: -1, false: 1}[first]
		}
		return strings.Compare(a.Name, b.Name)
	})
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, file := range from.File {
		if err := copyZipped(w, file, created); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func copyZipped(w *zip.Writer, file *zip.File, created time.Time) error {
	text, err := file.Open()
	if err != nil {
		return err
	}
	defer text.Close()
	to, err := w.CreateHeader(&zip.FileHeader{Name: file.Name, Method: file.Method, Modified: created})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, text)
	return err
}
