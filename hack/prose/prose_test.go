// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestMeasured(t *testing.T) {
	for sentence, c := range map[string]struct {
		page             string
		words, sentences int
	}{
		"two sentences":           {"One two three. Four five.\n", 5, 2},
		"a sentence of two lines": {"One two\nthree four.\n", 4, 1},
		"code is one word":        {"Run `kubectl get pods -A` now.\n", 3, 1},
		"a link is its text":      {"See [the page](https://example.test/a%20b).\n", 3, 1},
		"an abbreviation":         {"Up to 1.5 times, e.g. here.\n", 6, 1},
		"items of a list":         {"* One two.\n* Three\n  four.\n", 4, 2},
		"a list in a list":        {"1. One two:\n   * three\n", 3, 2},
		"headings do not count":   {"# One two\n\nThree.\n", 1, 1},
		"tables do not count":     {"| one | two |\n|---|---|\n| three | four |\n\nFive.\n", 1, 1},
		"fences do not count":     {"```console\n$ one two\n```\n\nThree.\n", 1, 1},
		"after a colon":           {"One two: Three four.\n", 4, 2},
		"nothing":                 {"", 0, 0},
	} {
		if got := measured([]byte(c.page)); got.words != c.words || got.sentences != c.sentences {
			t.Errorf("%s: got %d words in %d sentences, want %d in %d", sentence, got.words, got.sentences, c.words, c.sentences)
		}
	}
}

func TestAPageWithLongSentencesIsNamed(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("One two three four.\n\nFive.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := check([]string{page}, 2.5); err != nil {
		t.Errorf("at the limit: got %v, want no error", err)
	}
	if err := check([]string{page}, 2.4); err == nil || err.Error() != "1 of 1 pages have sentences that are too long" {
		t.Errorf("above the limit: got %v", err)
	}
}

// TestValeFindsEachPhrase gives Vale a page with a line for each rule of the list of phrases, and one of each word.
func TestValeFindsEachPhrase(t *testing.T) {
	lines := append(tokens(t, "Phrases"), tokens(t, "Words")...)
	page := filepath.Join(t.TempDir(), "page.md")
	var content strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&content, "The page has %s here.\n\n", line)
	}
	if err := os.WriteFile(page, []byte(content.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := vale(t, page)
	for i, line := range lines {
		if at := fmt.Sprintf("%s:%d:", page, 2*i+1); !strings.Contains(out, at) {
			t.Errorf("vale does not find %q", line)
		}
	}
	if t.Failed() {
		t.Logf("vale printed\n%s", out)
	}
}

// here is the directory of this package, from where Go finds Vale.
var here, _ = os.Getwd()

// vale is what Vale prints about a file in which it finds something.
func vale(t *testing.T, file string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "tool", "vale", "--config", filepath.Join(here, "vale.ini"), "--output=line", file)
	command.Dir = here
	out, err := command.CombinedOutput()
	if err == nil {
		t.Fatalf("vale finds nothing in %s", file)
	}
	return string(out)
}

var (
	entry       = regexp.MustCompile(`(?m)^  - (?:'(.*)'|(.*))$`)
	alternative = regexp.MustCompile(`\(\?:([^|)]*)[^)]*\)\??`)
	optional    = regexp.MustCompile(`(\w)\?`)
)

// tokens are texts that match the rules of a style, one for each: the first of alternatives, and what may be there is.
func tokens(t *testing.T, style string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("styles", "Plain", style+".yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range entry.FindAllStringSubmatch(string(content), -1) {
		text := strings.ReplaceAll(found[1]+found[2], "''", "'")
		text = optional.ReplaceAllString(alternative.ReplaceAllString(text, "$1"), "$1")
		all = append(all, strings.NewReplacer(`\.`, ".", `\(`, "(", `\)`, ")").Replace(text))
	}
	if len(all) == 0 {
		t.Fatalf("styles/Plain/%s.yml has no tokens", style)
	}
	return all
}
