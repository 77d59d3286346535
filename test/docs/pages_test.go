// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"statefulset.dev/test/docs/page"
)

func TestEveryFenceSaysWhatItIs(t *testing.T) {
	for _, p := range allPages(t) {
		for _, fence := range p.Fences {
			if _, err := fence.Use(); err != nil {
				t.Errorf("%s:%d: %v", p.Path, fence.Line, err)
			}
		}
		for _, line := range p.Indented {
			t.Errorf("%s:%d: code is indented here: want a fence, which says whether it is run", p.Path, line)
		}
	}
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	all := allPages(t)
	byPath := map[string]page.Page{}
	for _, p := range all {
		byPath[p.Path] = p
	}
	for _, p := range all {
		for _, link := range p.Links {
			target := p.Path
			if link.Target != "" {
				target = path.Join(path.Dir(p.Path), link.Target)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s:%d: the link to %s leads nowhere", p.Path, link.Line, link.Target)
				continue
			}
			if there, ok := byPath[target]; ok && link.Anchor != "" && !there.Anchors[link.Anchor] {
				t.Errorf("%s:%d: %s has no heading #%s", p.Path, link.Line, target, link.Anchor)
			}
		}
	}
}

// What readers are told first is what has to work first.
func TestTheReadmeIsRun(t *testing.T) {
	for _, p := range allPages(t) {
		if p.Path != "README.md" {
			continue
		}
		run := 0
		for _, fence := range p.Fences {
			if use, err := fence.Use(); err == nil && use.Run {
				run++
			}
		}
		if run == 0 {
			t.Error("README.md has no fence that is run, want its quick start to be")
		}
		return
	}
	t.Errorf("there is no README.md among %s", strings.Join(patterns(), ", "))
}

func allPages(t *testing.T) []page.Page {
	t.Helper()
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
