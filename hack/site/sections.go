// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// landing is the first page of the site. It is in no chapter.
const landing = "index.md"

// section is a part of the site.
type section struct {
	Text  string `json:"text"`
	Items []item `json:"items"`
}

type item struct {
	Text string `json:"text"`
	Link string `json:"link"`
}

// chapter is a section as it is ordered here: pages of the site without .md.
type chapter struct {
	text  string
	pages []string
}

func chapters() []chapter {
	return []chapter{
		{"Start", []string{"start", "is-it-for-you", "tutorials/first-set", "install", "tutorials/broken-rollout", "tutorials/migrate-and-back",
			"tutorials/lost-disk", "tutorials/lost-store"}},
		{"Concepts", []string{"concepts", "reliability", "semantics", "comparison", "glossary"}},
		{"Tasks", []string{
			"rollouts", "update-order", "in-place", "scaling", "claims", "identity", "supporting-objects", "generated-secrets", "overrides",
			"disruption", "deletion", "migrate", "kubectl", "gitops", "clients", "clients/go", "clients/typescript", "clients/python",
			"clients/java", "examples/list", "examples/addresses", "examples/priming", "examples/secrets", "examples/zookeeper",
			"examples/galera", "examples/mongodb", "examples/cassandra", "examples/spark"}},
		{"Operate", []string{"production", "sizing", "high-availability", "backup", "upgrade", "hosts", "security", "neighbours",
			"performance"}},
		{"Troubleshoot", []string{"troubleshooting", "status", "lost-node", "repair", "without-the-server", "faq"}},
		{"Reference", []string{"reference/api", "reference/conditions", "reference/kubectl-sts", "reference/statefulset-apiserver",
			"reference/metrics", "policy/versions", "policy/deprecation", "project/changelog"}},
		{"Contribute", []string{"project/contributing", "change", "architecture", "adr/index", "policy/planner-rule", "policy/api",
			"policy/releases", "policy/performance-log", "project/release", "project/security", "project/cluster"}},
	}
}

// names are how the sidebar calls pages whose heading says little there.
func names() map[string]string {
	return map[string]string{
		"start": "What and why", "clients": "Clients and schemas", "clients/go": "Client for Go", "clients/typescript": "Client for TypeScript",
		"clients/python": "Client for Python", "clients/java": "Client for Java", "project/cluster": "The local cluster",
		"comparison": "Comparison",
		"semantics":  "Semantics", "migrate": "Moving sets", "hosts": "Host clusters", "backup": "Backup and restore",
		"project/security": "Reporting a vulnerability",
	}
}

// places are where files of the repository are on the site, besides those of docs.
func places() map[string]string {
	return map[string]string{
		"site/landing.md": landing, "README.md": "start.md", "CHANGELOG.md": "project/changelog.md", "RELEASE.md": "project/release.md",
		"CONTRIBUTING.md": "project/contributing.md", "SECURITY.md": "project/security.md", "test/cluster/README.md": "project/cluster.md",
		"client/README.md": "clients/go.md", "sdk/typescript/README.md": "clients/typescript.md", "sdk/python/README.md": "clients/python.md",
		"sdk/java/README.md": "clients/java.md", "docs/adr/README.md": "adr/index.md",
	}
}

// sections are the chapters with the titles of their pages. Every page is in one of them, except the landing page and the
// decisions, which their index lists: a reader would find no other page.
func (s site) sections() ([]section, error) {
	var all []section
	listed := map[string]bool{landing: true}
	for _, c := range chapters() {
		part := section{Text: c.text}
		for _, page := range c.pages {
			title, err := s.title(page + ".md")
			if err != nil {
				return nil, err
			}
			listed[page+".md"] = true
			part.Items = append(part.Items, item{cmp.Or(names()[page], title), "/" + strings.TrimSuffix(page, "index")})
		}
		all = append(all, part)
	}
	pages, err := s.written()
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		if !listed[page] && !strings.HasPrefix(page, "adr/") {
			return nil, fmt.Errorf("%s is in no chapter of hack/site/sections.go", page)
		}
	}
	return all, nil
}

// title is the first heading of a page.
func (s site) title(page string) (string, error) {
	content, err := os.ReadFile(filepath.Join(s.out, filepath.FromSlash(page)))
	if err != nil {
		return "", fmt.Errorf("looking for the title of a page: %w", err)
	}
	for line := range strings.SplitSeq(string(content), "\n") {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("%s has no heading", page)
}

// written are the pages of the site.
func (s site) written() ([]string, error) {
	var all []string
	for _, pattern := range []string{"*.md", "*/*.md"} {
		found, err := filepath.Glob(filepath.Join(s.out, pattern))
		if err != nil {
			return nil, fmt.Errorf("listing the pages: %w", err)
		}
		for _, path := range found {
			page, err := filepath.Rel(s.out, path)
			if err != nil {
				return nil, fmt.Errorf("naming page %s: %w", path, err)
			}
			all = append(all, filepath.ToSlash(page))
		}
	}
	slices.Sort(all)
	return all, nil
}
