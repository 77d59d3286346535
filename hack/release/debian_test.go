// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOfPackagesStaysWhatAContainerNeeds(t *testing.T) {
	tree := t.TempDir()
	for _, path := range []string{"/usr/bin/tool", "/usr/share/man/man1/tool.1", "/usr/share/doc/tool/copyright",
		"/usr/share/doc/tool/changelog", "/usr/share/locale/de/tool.mo", "/etc/tool.conf"} {
		if err := os.MkdirAll(filepath.Dir(tree+path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(tree+path, []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, target := range map[string]string{"/usr/bin/t": "tool", "/usr/share/doc/libtool": "tool"} {
		if err := os.Symlink(target, tree+path); err != nil {
			t.Fatal(err)
		}
	}
	files, err := treeOf(tree, []string{"/etc/"})
	if err != nil {
		t.Fatal(err)
	}
	got, want := slices.Sorted(maps.Keys(files)), []string{"/usr/bin/t", "/usr/bin/tool", "/usr/share/doc/tool/copyright"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	layer, err := layerOf(files, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(entry(t, layer, "usr/bin/tool")); got != "/usr/bin/tool" {
		t.Errorf("the program: got %q, want its content", got)
	}
	if got := entry(t, layer, "usr/bin/t"); len(got) != 0 {
		t.Errorf("the link: got %q, want a link, which has no content", got)
	}
}

func TestAPackageThatIsNotIsNamed(t *testing.T) {
	if _, err := os.Stat("/usr/bin/apt-get"); err != nil {
		t.Skip("there is no apt-get here")
	}
	_, err := debian(nil, "no-such-package-of-ours")(t.Context(), source{}, "amd64", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "no-such-package-of-ours") {
		t.Errorf("got %v, want an error that names the package", err)
	}
}

// No release has them.
func TestImagesOfDebianAreMadeOnlyWhenAskedFor(t *testing.T) {
	for _, spec := range []imageSpec{zookeeper(), galera()} {
		if !spec.optional {
			t.Errorf("image %s is made with all others, want it to be optional", spec.name)
		}
		if slices.ContainsFunc(userImages([]string{"amd64"}), func(i imageSpec) bool { return i.name == spec.name }) {
			t.Errorf("image %s is one of a user", spec.name)
		}
	}
}
