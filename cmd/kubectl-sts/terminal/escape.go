// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line escapes everything in text that is not a visible character or a space, also line breaks and
// tabs.
func Line(text string) string { return escape(text, unicode.IsGraphic) }

// Text is Line for text of several lines: line breaks and tabs stay.
func Text(text string) string { return escape(text, keptInText) }

func keptInText(r rune) bool { return r == '\n' || r == '\t' || unicode.IsGraphic(r) }

// escape writes characters that keep rejects as in a Go string literal. It also escapes bytes that
// are not UTF-8, because some terminals interpret them as control characters.
func escape(text string, keep func(rune) bool) string {
	if clean(text, keep) {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case keep(r):
			out.WriteRune(r)
		default:
			out.WriteString(escaped(r))
		}
		text = text[size:]
	}
	return out.String()
}

func clean(text string, keep func(rune) bool) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !keep(r) }) < 0
}

func escaped(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// JSON returns an equivalent JSON document without control characters other than line breaks and
// tabs. Control characters can only be in its strings, where JSON has an escape for them.
func JSON(document string) string {
	if clean(document, keptInText) {
		return document
	}
	var out strings.Builder
	for _, r := range document {
		switch {
		case keptInText(r):
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}
