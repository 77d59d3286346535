// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keeping writes the image, and reports whether the archive of before was kept.
func (s source) keeping(t *testing.T, spec imageSpec, created time.Time, dir string) bool {
	t.Helper()
	var out bytes.Buffer
	if err := s.writeImage(t.Context(), spec, created, dir, &out); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(out.String(), "unchanged")
}

func TestAnArchiveIsKeptUntilWhatItIsMadeOfChanges(t *testing.T) {
	dir, at := t.TempDir(), time.Unix(1, 0)
	archive := filepath.Join(dir, "small.tar")
	s := source{kept: filepath.Join(dir, keptDir)}
	spec := small(t)
	program := func() string {
		files, err := spec.files(t.Context(), s, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return files["/program"]
	}()
	if s.keeping(t, spec, at, dir) {
		t.Fatal("the first time: got an archive that is unchanged, want a new one")
	}
	// Each step begins where the step before has ended.
	for _, step := range []struct {
		sentence string
		change   func() error
		kept     bool
	}{
		{"nothing changes", func() error { return nil }, true},
		{"a file is another", func() error { return os.WriteFile(program, []byte("#!/bin/true\n"), 0o600) }, false},
		{"it is as long as before and another", func() error { return os.WriteFile(program, []byte("#!/bin/blue\n"), 0o600) }, false},
		{"it is written again as it was", func() error { return os.WriteFile(program, []byte("#!/bin/blue\n"), 0o600) }, true},
		{"the image has another user", func() error { spec.user = "0:0"; return nil }, false},
		{"the image has another name", func() error { spec.reference = "localhost/other:dev"; return nil }, false},
		{"the image is of another commit", func() error { at = at.Add(time.Second); return nil }, false},
		{"the image is for one architecture less", func() error { spec.arch = spec.arch[:1]; return nil }, false},
		{"the archive is gone", func() error { return os.Remove(archive) }, false},
		{"what it was made of is not known", func() error { return os.RemoveAll(s.kept) }, false},
		{"nothing changes any more", func() error { return nil }, true},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if got := s.keeping(t, spec, at, dir); got != step.kept {
			t.Errorf("%s: got kept %t, want %t", step.sentence, got, step.kept)
		}
		got, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		if want := write(t, spec, at); !bytes.Equal(got, want) {
			t.Errorf("%s: got an archive of %d bytes that differs from the %d of one that is made afresh", step.sentence, len(got), len(want))
		}
	}
}

func TestARunThatFailsLeavesNoNoteOfAnotherArchive(t *testing.T) {
	dir, at := t.TempDir(), time.Unix(1, 0)
	s := source{kept: filepath.Join(dir, keptDir)}
	spec := small(t)
	s.keeping(t, spec, at, dir)
	// The archive of the second commit is in the way of nothing but its note.
	if err := os.Mkdir(filepath.Join(dir, "small.tar.partial"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.writeImage(t.Context(), spec, at.Add(time.Second), dir, &bytes.Buffer{}); err == nil {
		t.Fatal("an archive that cannot be written: got no error")
	}
	if err := os.Remove(filepath.Join(dir, "small.tar.partial")); err != nil {
		t.Fatal(err)
	}
	if s.keeping(t, spec, at, dir) {
		t.Error("the first commit again: got an archive that is unchanged, want it made again, since a run between may have replaced it")
	}
}
