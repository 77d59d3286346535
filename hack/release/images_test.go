// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// small is an image of one file.
func small(t *testing.T) imageSpec {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return imageSpec{
		name: "small", reference: "localhost/small:dev", arch: []string{"amd64", "arm64"}, user: nobody, entrypoint: []string{"/program"},
		files: func(context.Context, source, string, string) (map[string]string, error) {
			return map[string]string{"/program": file}, nil
		},
	}
}

func write(t *testing.T, spec imageSpec, created time.Time) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := (source{}).writeImage(t.Context(), spec, created, dir, io.Discard); err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(filepath.Join(dir, spec.name+".tar"))
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func TestACommitGivesTheSameBytes(t *testing.T) {
	spec, at := small(t), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	first := sha256.Sum256(write(t, spec, at))
	// Neither another time zone nor other rights of new files may show.
	t.Setenv("TZ", "Pacific/Auckland")
	if second := sha256.Sum256(write(t, spec, at)); second != first {
		t.Errorf("written once more: got %x, want %x", second, first)
	}
	if other := sha256.Sum256(write(t, spec, at.Add(time.Second))); other == first {
		t.Errorf("of another commit: got the same bytes, %x", other)
	}
}

func TestAnArchiveSaysWhatItsImageIsCalled(t *testing.T) {
	archive := write(t, small(t), time.Unix(0, 0))
	var index struct {
		Manifests []struct {
			MediaType   string
			Annotations map[string]string
		}
	}
	if err := json.Unmarshal(entry(t, archive, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Manifests) != 1 {
		t.Fatalf("images in the archive: got %d, want 1", len(index.Manifests))
	}
	one := index.Manifests[0]
	if got, want := one.Annotations["io.containerd.image.name"], "localhost/small:dev"; got != want {
		t.Errorf("name: got %q, want %q", got, want)
	}
	if want := "application/vnd.oci.image.index.v1+json"; one.MediaType != want {
		t.Errorf("kind of image: got %q, want %q, which has an image for each architecture", one.MediaType, want)
	}
}

func entry(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("the archive has no %s", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == name {
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for sentence, args := range map[string][]string{
		"no subcommand":        nil,
		"another subcommand":   {"everything"},
		"an image that is not": {"images", "nothing"},
		"a time that is none":  {"images", "--created=yesterday"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s: got no error", sentence)
		}
	}
}
