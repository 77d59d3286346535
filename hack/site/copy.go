// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// site is what is written.
type site struct {
	root, out string
	// pages are where files of the repository are on the site.
	pages map[string]string
}

func (s site) write(name, content string) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func (s site) writeJSON(name string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	return s.write(name, string(content))
}

// sources are the files of the repository by the pages of the site that they become.
func (s site) sources() map[string]string {
	all := make(map[string]string, len(s.pages))
	for source, page := range s.pages {
		all[page] = source
	}
	return all
}

// copyPages copies the pages of the repository.
func (s site) copyPages() error {
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(pattern)))
		if err != nil {
			return fmt.Errorf("listing the pages: %w", err)
		}
		for _, file := range found {
			source, err := filepath.Rel(s.root, file)
			if err != nil {
				return fmt.Errorf("naming page %s: %w", file, err)
			}
			source = filepath.ToSlash(source)
			if s.pages[source] == "" {
				s.pages[source] = strings.TrimPrefix(source, "docs/")
			}
		}
	}
	for source, page := range s.pages {
		content, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
		if err != nil {
			return fmt.Errorf("reading a page: %w", err)
		}
		text, err := s.turned(source, string(content))
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		if err := s.write(page, text); err != nil {
			return err
		}
	}
	return nil
}

var (
	fence = regexp.MustCompile("^ *(```+)")
	link  = regexp.MustCompile(`\]\(([^()\s]+)\)`) // the text before may begin in another line
	away  = regexp.MustCompile(`^([a-z]+:|#)`)
	inRow = regexp.MustCompile("`[^`]*`")
	tag   = regexp.MustCompile(`<([A-Za-z/])`)
)

// turned is a page as the site has it.
func (s site) turned(source, content string) (string, error) {
	lines := strings.Split(content, "\n")
	marks := ""
	for i, line := range lines {
		if found := fence.FindStringSubmatch(line); found != nil {
			switch marks {
			case "":
				marks = found[1]
			case strings.TrimSpace(line):
				marks = ""
			}
			continue
		}
		if marks != "" {
			continue
		}
		var err error
		lines[i] = plain(link.ReplaceAllStringFunc(line, func(found string) string {
			turned, linkErr := s.link(source, link.FindStringSubmatch(found)[1])
			if linkErr != nil {
				err = linkErr
			}
			return "](" + turned
		}))
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return strings.Join(lines, "\n"), nil
}

// plain keeps text outside of code from being taken for elements and expressions of Vue.
func plain(line string) string {
	code := inRow.FindAllString(line, -1)
	text := inRow.Split(line, -1)
	for i := range text {
		text[i] = strings.ReplaceAll(tag.ReplaceAllString(text[i], "&lt;$1"), "{{", "{&#8203;{")
		if i < len(code) {
			text[i] += code[i]
		}
	}
	return strings.Join(text, "")
}

// link leads to a page of the site, or to a file that is put beside the pages. Of a directory, that is the list of its files.
func (s site) link(source, target string) (string, error) {
	if away.MatchString(target) {
		return target + ")", nil
	}
	target, anchor, hasAnchor := strings.Cut(target, "#")
	file := path.Join(path.Dir(source), target)
	if page := s.pages[file]; page != "" {
		to := relative(s.pages[source], page)
		if hasAnchor {
			to += "#" + anchor
		}
		return to + ")", nil
	}
	content, err := s.content(file)
	if err != nil {
		return "", fmt.Errorf("the link to %s leads nowhere: %w", target, err)
	}
	name := file
	if !slices.Contains([]string{".yaml", ".json", ".txt"}, path.Ext(file)) {
		name += ".txt" // what browsers show
	}
	if err := s.write("public/files/"+name, content); err != nil {
		return "", err
	}
	return "/files/" + name + `){target="_self"}`, nil
}

func (s site) content(file string) (string, error) {
	name := filepath.Join(s.root, filepath.FromSlash(file))
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		content, err := os.ReadFile(name)
		return string(content), err
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return "", err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, path.Join(file, entry.Name()))
	}
	return strings.Join(names, "\n") + "\n", nil
}

// relative is the way from one page of the site to another.
func relative(from, to string) string {
	way, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to))
	if err != nil {
		return "/" + to
	}
	if way = filepath.ToSlash(way); !strings.HasPrefix(way, ".") {
		way = "./" + way
	}
	return way
}
