// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPathsThatAreRecorded(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for sentence, test := range map[string]struct{ path, want string }{
		"a directory":                  {dir, dir},
		"a link to it":                 {link, dir},
		"one that is not there":        {filepath.Join(dir, "new"), filepath.Join(dir, "new")},
		"one with steps up and a link": {filepath.Join(link, "..", "link"), dir},
	} {
		if got, err := absolute("dir", test.path); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", sentence, got, err, test.want)
		}
	}
}
