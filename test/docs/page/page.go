// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page parses pages of documentation: their fences, the commands in these with their
// expected output, and the links. It also compares the expected output with the real output of a
// command.
package page

import (
	"regexp"
	"strings"
)

// Page is one file.
type Page struct {
	// Path is the path of the file, from the root of the repository.
	Path   string
	Fences []Fence
	// Indented are the lines at which code begins that is indented instead of fenced.
	Indented []int
	Links    []Link
	// Anchors are the headings, as links name them.
	Anchors map[string]bool
}

// Fence is a block between two lines of backticks.
type Fence struct {
	// Line is the line of the opening backticks, counted from 1.
	Line int
	// Info is the text after the backticks.
	Info  string
	Lines []string
}

// Link is a link from a page to a file or a page of this repository, or to a heading.
type Link struct {
	Line int
	// Target is a path from the page, empty for the page itself.
	Target string
	// Anchor is a heading there, empty for none.
	Anchor string
}

var (
	opening = regexp.MustCompile("^( *)(```+)([^`]*)$")
	item    = regexp.MustCompile(`^( *)([*+-]|[0-9]+[.)])( +)\S`)
	heading = regexp.MustCompile(`^#{1,6} +(.*?)[ #]*$`)
)

// Parse parses a page of Markdown, as far as the tests need it.
func Parse(path, content string) Page {
	p := Page{Path: path, Anchors: map[string]bool{}}
	var open *Fence
	var indent int
	var marks string
	within := 0 // where the text of the current list item begins
	blank := true
	for i, line := range strings.Split(content, "\n") {
		number := i + 1
		if open != nil {
			if strings.TrimSpace(line) == marks {
				p.Fences = append(p.Fences, *open)
				open = nil
				continue
			}
			open.Lines = append(open.Lines, outdented(line, indent))
			continue
		}
		if found := opening.FindStringSubmatch(line); found != nil {
			open, indent, marks = &Fence{Line: number, Info: strings.TrimSpace(found[3])}, len(found[1]), found[2]
			continue
		}
		if strings.TrimSpace(line) == "" {
			blank = true
			continue
		}
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		if spaces < within && blank {
			within = 0
		}
		if found := item.FindStringSubmatch(line); found != nil && spaces < within+4 {
			within = len(found[1]) + len(found[2]) + len(found[3])
		} else if blank && spaces >= within+4 {
			p.Indented = append(p.Indented, number)
		}
		blank = false
		p.read(number, line)
	}
	if open != nil {
		p.Fences = append(p.Fences, *open)
	}
	return p
}

func outdented(line string, by int) string {
	for i := 0; i < by && strings.HasPrefix(line, " "); i++ {
		line = line[1:]
	}
	return line
}

var (
	code   = regexp.MustCompile("`[^`]*`")
	inline = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	named  = regexp.MustCompile(`^\[[^\]]+\]: +(\S+)`)
	remote = regexp.MustCompile(`^[a-z]+:`)
)

// read finds the headings and links in a line of text.
func (p *Page) read(number int, line string) {
	if found := heading.FindStringSubmatch(line); found != nil {
		p.Anchors[Slug(found[1])] = true
	}
	text := code.ReplaceAllString(line, "``")
	for _, found := range append(inline.FindAllStringSubmatch(text, -1), named.FindAllStringSubmatch(text, -1)...) {
		if remote.MatchString(found[1]) {
			continue
		}
		target, anchor, _ := strings.Cut(found[1], "#")
		p.Links = append(p.Links, Link{Line: number, Target: target, Anchor: anchor})
	}
}

var (
	shown    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	unwanted = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Slug returns the anchor of a heading, in the format of GitHub.
func Slug(heading string) string {
	text := shown.ReplaceAllString(heading, "$1")
	return strings.ReplaceAll(unwanted.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
}
