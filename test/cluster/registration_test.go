// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStorageStagesCoverEveryClass(t *testing.T) {
	got, err := widenStorage("volume/x.yaml", "expression: >-\n  self.spec.storageClassName == 'kwok-volume'\n",
		[]string{fakeClass, exampleClass})
	if err != nil || !strings.Contains(got, "'my-storage-class'") {
		t.Errorf("widening: got %q (%v), want my-storage-class in it", got, err)
	}
	if _, err := widenStorage("volume/x.yaml", "expression: true", nil); err == nil || !strings.Contains(err.Error(), "volume/x.yaml") {
		t.Errorf("widening a stage of another shape: got %v, want an error that names the stage", err)
	}
}

func TestOverlayLeadsToTheLocalServer(t *testing.T) {
	root := t.TempDir()
	dir, base := filepath.Join(root, ".cluster", registrationDir), filepath.Join(root, "artifacts", "base")
	for _, d := range []string{dir, base} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := renderOverlay(dir, base, []byte("CA"), 6444)
	if err != nil {
		t.Fatal(err)
	}
	overlay := string(raw)
	for _, want := range []string{"- ../../artifacts/base\n", "externalName: localhost", "port: 6444", "value: Q0E=\n", "$patch: delete"} {
		if !strings.Contains(overlay, want) {
			t.Errorf("overlay lacks %q:\n%s", want, overlay)
		}
	}
}

func TestPurgeKeepsWhatIsNotItsOwn(t *testing.T) {
	dir := t.TempDir()
	s := testSupervisor(t, dir)
	if err := ensurePKI(dir, loopback); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.purge(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "notes.txt" {
		t.Errorf("left after purging: got %v, want notes.txt only", left)
	}
}
