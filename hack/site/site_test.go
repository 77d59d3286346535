// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestTheSiteIsComplete makes all pages, with those of two commands in the place of all.
func TestTheSiteIsComplete(t *testing.T) {
	commands, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"statefulset-apiserver": "## statefulset-apiserver\n", "kubectl-sts": "## kubectl sts\n",
		"kubectl-sts-plan": "## kubectl sts plan\n", "kubectl-sts-label": "## kubectl sts label\n"} {
		if err := os.WriteFile(filepath.Join(commands, name+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := build(root, commands, out); err != nil {
		t.Fatal(err)
	}
	for page, wants := range map[string][]string{
		"index.md":               {"layout: home"},
		"start.md":               {"](./rollouts.md)", "](./adr/index.md)", "](/files/artifacts/examples/web.yaml)"},
		"claims.md":              {"](./update-order.md)", "](/files/artifacts/examples/claims.yaml)"},
		"policy/planner-rule.md": {"](../architecture.md#the-life-of-a-sync)", "](/files/controller/plan/rate.go.txt)"},
		"reference/api.md": {"## StatefulSetSpec\n", "| `scaleStrategy` | [StatefulSetScaleStrategy](#statefulsetscalestrategy) | ",
			"`/apis/apps.statefulset.dev/v1/namespaces/{namespace}/statefulsets/{name}/plan` | get, post |"},
		"reference/metrics.md": {
			"| `statefulset_controller_objects` | gauge | `kind`, `state` | ",
			"| `statefulset_controller_statefulset_unavailable_replicas` | gauge | `statefulset_namespace`, ",
			"| `statefulset_apiserver_backups_total` | counter | `result` |"},
		"reference/conditions.md": {
			"| `Stalled` | True when a person must act", "| `HostRefused` | The host cluster refused", "`apps.statefulset.dev/hold`"},
		"reference/kubectl-sts.md":      {"## kubectl sts plan"},
		"public/files/LICENSE.txt":      {"Apache License"},
		"sections.json":                 {`"/tutorials/first-set"`, `"/adr/"`},
		"sources.json":                  {`"adr/index.md": "docs/adr/README.md"`, `"start.md": "README.md"`},
		"project/contributing.md":       {"](../adr/index.md)"},
		"clients/typescript.md":         {"#"},
		"tutorials/first-set.md":        {"](../start.md#try-it)"},
		"adr/0008-never-a-false-404.md": {"# 0008"},
	} {
		content, err := os.ReadFile(filepath.Join(out, page))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s: want %q in it; it begins with\n%.600s", page, want, content)
			}
		}
	}
	if plugin, err := os.ReadFile(filepath.Join(out, "reference/kubectl-sts.md")); err != nil || strings.Contains(string(plugin), "label") {
		t.Errorf("the page of the plugin has kubectl's own commands, too (%v):\n%s", err, plugin)
	}
}

// TestTheLandingPageLeadsToPages checks what VitePress does not: links of the front matter.
func TestTheLandingPageLeadsToPages(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "site/landing.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`(?m)^ *link: /(\S+)$`).FindAllStringSubmatch(string(content), -1)
	if len(links) == 0 {
		t.Fatal("got no link in site/landing.md, want some")
	}
	for _, link := range links {
		listed := slices.ContainsFunc(chapters(), func(c chapter) bool { return slices.Contains(c.pages, link[1]) })
		if !listed {
			t.Errorf("site/landing.md links to /%s, want a page that a chapter lists", link[1])
		}
	}
}

func TestTurned(t *testing.T) {
	s := site{root: root, out: t.TempDir(),
		pages: map[string]string{"README.md": "index.md", "docs/claims.md": "claims.md", "docs/adr/README.md": "adr/index.md"}}
	for sentence, c := range map[string]struct{ content, want, fails string }{
		"a page": {content: "[a](claims.md#growth), [b](../README.md)", want: "[a](./claims.md#growth), [b](./index.md)"},
		"a site": {content: "[a](https://example.test) and [b](#here)", want: "[a](https://example.test) and [b](#here)"},
		"a file": {
			content: "[a](../artifacts/examples/web.yaml)", want: `[a](/files/artifacts/examples/web.yaml){target="_self"}`},
		"a file of code":          {content: "[a](../go.mod)", want: `[a](/files/go.mod.txt){target="_self"}`},
		"a directory":             {content: "see [artifacts](../artifacts)", want: `see [artifacts](/files/artifacts.txt){target="_self"}`},
		"a text of two lines":     {content: "[a\nb](claims.md)", want: "[a\nb](./claims.md)"},
		"a file that is not":      {content: "one\n[a](../none.yaml)", fails: "line 2: the link to ../none.yaml leads nowhere"},
		"elements":                {content: "a <b> and {{ c }} and `<d>`", want: "a &lt;b> and {&#8203;{ c }} and `<d>`"},
		"commands":                {content: "```console\n$ a <b> {{c}}\n```\n<d>", want: "```console\n$ a <b> {{c}}\n```\n&lt;d>"},
		"a name with an ordinal":  {content: "[`a`](claims.md), [[0001]](adr/README.md)", want: "[`a`](./claims.md), [[0001]](./adr/index.md)"},
		"a comment is left alone": {content: "<!-- rows -->", want: "<!-- rows -->"},
	} {
		got, err := s.turned("docs/x.md", c.content)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got error %v, want one with %q", sentence, err, c.fails)
			}
			continue
		}
		s.pages["docs/x.md"] = "x.md"
		if err != nil || got != c.want {
			t.Errorf("%s: got %q and %v, want %q", sentence, got, err, c.want)
		}
	}
}

func TestAMetricWithoutANameIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte("package a\n\nvar x = metrics.NewGauge(&metrics.GaugeOpts{Name: name(), Help: \"h\"})\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := metricsOf(file); err == nil {
		t.Errorf("got %v, want an error: nobody knows the name", found)
	}
}
