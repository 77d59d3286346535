// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

const (
	document = "openapi/v3/apps.statefulset.dev_v1.json"
	refs     = "#/components/schemas/"
	ours     = "dev.statefulset.apps.v1."
)

// openAPI is what of the published document is shown.
type openAPI struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type schema struct {
	Ref         string            `json:"$ref"`
	AllOf       []schema          `json:"allOf"`
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Format      string            `json:"format"`
	Items       *schema           `json:"items"`
	Values      *schema           `json:"additionalProperties"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Kinds       []struct {
		Kind string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

// apiPage is the reference of our types: kinds first, then their parts.
func apiPage(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the document: %w", err)
	}
	var doc openAPI
	if err := json.Unmarshal(content, &doc); err != nil {
		return "", fmt.Errorf("decoding %s: %w", file, err)
	}
	var kinds, parts []string
	for name, s := range doc.Components.Schemas {
		switch {
		case !strings.HasPrefix(name, ours):
		case len(s.Kinds) > 0:
			kinds = append(kinds, name)
		default:
			parts = append(parts, name)
		}
	}
	slices.Sort(kinds)
	slices.Sort(parts)
	var page strings.Builder
	page.WriteString("# The API apps.statefulset.dev/v1\n\nWritten from [the OpenAPI document](" + "/files/" + document +
		"){target=\"_self\"}. Types of Kubernetes itself are named, and not repeated.\n")
	doc.writePaths(&page)
	for _, name := range slices.Concat(kinds, parts) {
		writeSchema(&page, strings.TrimPrefix(name, ours), doc.Components.Schemas[name])
	}
	return page.String(), nil
}

func (d openAPI) writePaths(page *strings.Builder) {
	page.WriteString("\n## Paths\n\n| path | methods |\n|---|---|\n")
	paths := make([]string, 0, len(d.Paths))
	for p := range d.Paths {
		if !strings.Contains(p, "/watch/") {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	for _, p := range paths {
		var methods []string
		for method := range d.Paths[p] {
			if method != "parameters" {
				methods = append(methods, method)
			}
		}
		slices.Sort(methods)
		fmt.Fprintf(page, "| `%s` | %s |\n", p, strings.Join(methods, ", "))
	}
}

func writeSchema(page *strings.Builder, name string, s schema) {
	fmt.Fprintf(page, "\n## %s\n\n%s\n", name, paragraphs(s.Description))
	if len(s.Properties) == 0 {
		return
	}
	page.WriteString("\n| field | type | |\n|---|---|---|\n")
	fields := make([]string, 0, len(s.Properties))
	for field := range s.Properties {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	for _, field := range fields {
		property := s.Properties[field]
		text := cell(property.Description)
		if slices.Contains(s.Required, field) {
			text += " Required."
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", field, property.words(), text)
	}
}

// words say what a field is, with a link if it is one of our types.
func (s schema) words() string {
	switch {
	case len(s.AllOf) == 1:
		return s.AllOf[0].words()
	case strings.HasPrefix(s.Ref, refs+ours):
		name := strings.TrimPrefix(s.Ref, refs+ours)
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, ".")+1:]
	case s.Items != nil:
		return "list of " + s.Items.words()
	case s.Values != nil:
		return "map of " + s.Values.words()
	case s.Format != "":
		return s.Format
	case s.Type == "":
		return "any"
	}
	return s.Type
}

// paragraphs is a text of the code as Markdown.
func paragraphs(text string) string { return plain(text) }

// cell is a text of the code in a table.
func cell(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(plain(text)), "|", `\|`)
	return strings.Join(strings.Split(text, "\n"), "<br>")
}
