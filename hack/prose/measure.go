// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// measure is the length of the sentences of a page.
type measure struct {
	words, sentences, longest int
	// beginning has the first words of the longest sentence.
	beginning string
}

func (m measure) average() float64 {
	if m.sentences == 0 {
		return 0
	}
	return float64(m.words) / float64(m.sentences)
}

// measured measures a page: its paragraphs and the items of its lists.
func measured(content []byte) (m measure) {
	document := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(content))
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the visitor returns no error
		switch n.(type) {
		case *extast.Table, *ast.Heading, *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Paragraph, *ast.TextBlock:
			if entering {
				m.add(prose(n, content))
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return m
}

// prose is the text of a paragraph. Code counts as one word.
func prose(n ast.Node, content []byte) string {
	var all strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.CodeSpan:
			all.WriteString("X")
		case *ast.Text:
			all.Write(child.Segment.Value(content))
			if child.SoftLineBreak() || child.HardLineBreak() {
				all.WriteByte(' ')
			}
		default:
			all.WriteString(prose(child, content))
		}
	}
	return all.String()
}

// end is the end of a sentence: a mark, perhaps a closing parenthesis, and a sentence that begins.
var end = regexp.MustCompile(`[.!?:]["')]?\s+["'(]?[A-Z]`)

func (m *measure) add(paragraph string) {
	from := 0
	for _, found := range end.FindAllStringIndex(paragraph, -1) {
		m.sentence(paragraph[from : found[0]+1])
		from = found[0] + 1
	}
	m.sentence(paragraph[from:])
}

func (m *measure) sentence(sentence string) {
	words := strings.FieldsFunc(sentence, unicode.IsSpace)
	count := 0
	for _, word := range words {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			count++
		}
	}
	if count == 0 {
		return
	}
	m.words += count
	m.sentences++
	if count > m.longest {
		m.longest, m.beginning = count, strings.Join(words[:min(len(words), 8)], " ")
	}
}
