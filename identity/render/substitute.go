// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import "strings"

// substitute replaces references to known parameters with their values. $$(NAME) becomes $(NAME).
// It does not change unknown names and other $ characters.
func substitute(text string, isKnown func(name string) bool, value func(name string) string) string {
	if !strings.Contains(text, "$(") {
		return text
	}
	var out strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '$')
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		text = text[at:]
		if name, after, ok := reference(text); ok && isKnown(name) {
			out.WriteString(value(name))
			text = after
			continue
		}
		if name, after, ok := reference(text[1:]); ok && isKnown(name) {
			out.WriteString("$(" + name + ")")
			text = after
			continue
		}
		out.WriteByte('$')
		text = text[1:]
	}
	out.WriteString(text)
	return out.String()
}

// reference splits a text that begins with a reference into its name and the rest.
func reference(text string) (name, after string, ok bool) {
	rest, ok := strings.CutPrefix(text, "$(")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ")")
}

// expanded visits the names in a text that the kubelet expands. In such a text, $$ means $.
func expanded(text string, visit func(name string)) {
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 || at+1 == len(text) {
			return
		}
		text = text[at:]
		if text[1] == '$' {
			text = text[2:]
			continue
		}
		name, after, ok := reference(text)
		if !ok {
			text = text[1:]
			continue
		}
		visit(name)
		text = after
	}
}

// referred visits the names that look like parameters, in a text in which the controller replaces
// them.
func referred(text string, visit func(name string)) {
	substitute(text, IsName, func(name string) string {
		visit(name)
		return ""
	})
}
