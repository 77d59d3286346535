// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page reads pages of documentation: their fences, the commands in these, what they are to print, and the links. And it
// compares what is printed with what a command has printed in truth.
package page

import (
	"regexp"
	"strings"
)

// Page is one file.
type Page struct {
	// Path is that of the file, from the root of the repository.
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
	// Line is that of the opening backticks, counted from 1.
	Line int
	// Info is what stands behind these.
	Info  string
	Lines []string
}

// Link leads from a page to a file or a page of this repository, or to a heading.
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

// Parse reads a page of Markdown, as far as it matters here.
func Parse(path, content string) Page {
	p := Page{Path: path, Anchors: map[string]bool{}}
	var open *Fence
	var indent int
	var marks string
	within := 0 // where the text of the list item begins that we are in
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

// read finds what a line of text has besides text.
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

// Slug is the anchor of a heading, as GitHub makes it.
func Slug(heading string) string {
	text := shown.ReplaceAllString(heading, "$1")
	return strings.ReplaceAll(unwanted.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
}
