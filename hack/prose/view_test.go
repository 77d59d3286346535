// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bad has a text that Vale finds in each line that ends with its number: one of each sort that people read.
const bad = `package x

// Wait is what somebody waits for.
const Wait = "wait"

// Paused is a reason.
func f() error {
	set(Condition{Message: "the pod is made anew"})
	recorder.Event("the claim is whose it is in vain")
	klog.InfoS("The store is told about it", "set", "as ever")
	flags.String("name", "", "where nobody looks again for it")
	command := &cobra.Command{Short: "Mend what shall be so"}
	fmt.Fprintf(out, "pod %s is removed in the place of %s\n", a, b)
	return fmt.Errorf("deleting the pod of somebody: %w", err)
}
`

func TestValeFindsEachSortOfText(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("x.go", []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeViews(filepath.Join(dir, "views"), []string{"x.go"}); err != nil {
		t.Fatal(err)
	}
	out := vale(t, filepath.Join(dir, "views", "x.go.md"))
	var found []int
	for line := range strings.Lines(out) {
		var number int
		if _, err := fmt.Sscanf(line[strings.LastIndex(line, "x.go.md:")+len("x.go.md:"):], "%d", &number); err == nil {
			found = append(found, number)
		}
	}
	slices.Sort(found)
	if got, want := slices.Compact(found), []int{3, 8, 9, 10, 11, 12, 13, 14}; !slices.Equal(got, want) {
		t.Errorf("got findings in the lines %v, want %v; vale printed\n%s", got, want, out)
	}
}

func TestNamesAreNoSentences(t *testing.T) {
	text, err := view("x.go", []byte("package x\n\nimport \"a/b\"\n\ntype t struct {\n\ta int `json:\"somebody nobody anew\"`\n}\n\nvar x = \"shall mend\"\n"))
	if err != nil || strings.TrimSpace(text) != "" {
		t.Errorf("got %q and %v, want nothing", text, err)
	}
}
