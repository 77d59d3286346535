//go:build docs

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/docs/page"
	"statefulset.dev/test/harness"
)

// suite is what every test uses. It is set once, before the first test runs.
var suite struct{ *harness.Cluster }

func TestMain(m *testing.M) {
	flag.Parse()
	if !*nodes {
		os.Exit(harness.Main(m, &suite.Cluster))
	}
	opened, err := harness.Open()
	if err != nil {
		fmt.Fprintf(os.Stderr, "opening the cluster: %v\n", err)
		os.Exit(1)
	}
	suite.Cluster = opened
	os.Exit(m.Run())
}

// TestPages runs the commands of the pages, beside each other.
func TestPages(t *testing.T) {
	all := allPages(t)
	t.Log(counted(all))
	for _, p := range all {
		if !has(p, here) || has(p, alone) {
			continue
		}
		t.Run(nameOf(p), func(t *testing.T) {
			t.Parallel()
			playPage(t, p, newReader(t, p), here)
		})
	}
}

// TestPagesAlone runs the commands of pages that need the cluster for themselves, after all others.
func TestPagesAlone(t *testing.T) {
	for _, p := range allPages(t) {
		if has(p, alone) {
			t.Run(nameOf(p), func(t *testing.T) {
				othersAreGone(t)
				playPage(t, p, newReader(t, p), here)
			})
		}
	}
}

// othersAreGone waits until nothing is left of other pages, and of what was done before them.
func othersAreGone(t *testing.T) {
	t.Helper()
	harness.EventuallyWithin(t, patience, "no namespace is being deleted", func(ctx context.Context) error {
		all, err := suite.Host.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range all.Items {
			if all.Items[i].DeletionTimestamp != nil {
				return fmt.Errorf("%s is being deleted", all.Items[i].Name)
			}
		}
		return nil
	})
}

func nameOf(p page.Page) string {
	return strings.TrimSuffix(strings.TrimPrefix(p.Path, "docs/"), ".md")
}

// playPage runs the commands of a page that are chosen, one after the other.
func playPage(t *testing.T, p page.Page, r *reader, chosen func(page.Use) bool) {
	t.Helper()
	t.Cleanup(func() { r.write(t, p.Path) })
	skip := false
	for _, fence := range p.Fences {
		use, err := fence.Use()
		if err != nil {
			t.Errorf("%s:%d: %v", p.Path, fence.Line, err)
			continue
		}
		if use.File != "" {
			r.keep(t, use.File, fence.Lines)
		}
		if !chosen(use) {
			continue
		}
		if use.Fresh || use.Installed != "" {
			r.namespace = ""
			skip = false
		}
		if use.Installed != "" {
			install(t, use.Installed)
		}
		// What comes after a command that failed rests on it, until a fence begins anew.
		if !skip {
			skip = !r.run(t, p.Path, fence)
		}
	}
}

// here, alone and onNodes are where commands are run.
func here(use page.Use) bool    { return use.Run && !use.Nodes }
func alone(use page.Use) bool   { return use.Alone }
func onNodes(use page.Use) bool { return use.Nodes }

// has says that a page has commands that are run there.
func has(p page.Page, there func(page.Use) bool) bool {
	return slices.ContainsFunc(p.Fences, func(fence page.Fence) bool {
		use, err := fence.Use()
		return err == nil && there(use)
	})
}

// TestAWrongPageIsFound plays a page whose last command prints something else.
func TestAWrongPageIsFound(t *testing.T) {
	t.Parallel()
	r := newReader(t, page.Page{Path: "wrong.md"})
	for sentence, c := range map[string]struct{ command, want, says string }{
		"another output":             {"echo two", "one", `expected "one", got "two"`},
		"a command that fails":       {"false", "", "exit status 1"},
		"one that fails with output": {"echo no; exit 3", "no", "exit status 3"},
		"one that ought to fail":     {"echo error: no", "error: no", "it succeeded"},
		"one that there is not":      {"kubectl sts nothing", "", "unknown command"},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		if err := r.play(t, command(c.command, want...)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want an error with %q", sentence, err, c.says)
		}
	}
	if err := r.play(t, command("echo error: no >&2; exit 1", "error: no")); err != nil {
		t.Errorf("a command that is shown to fail, and does: got %v, want no error", err)
	}
}

func failure(path string, line int, command, want, got string, err error) string {
	return fmt.Sprintf("%s:%d: %v\n$ %s\n--- expected\n%s\n--- got\n%s", path, line, err, command, want, got)
}
