// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package words formats times, numbers, and texts that others wrote for the messages of the
// planner.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Others can write anything into their objects: no API server validates the kind and name in
// an owner reference, or the texts in the status of a pod. Terminals show our messages, and
// programs read them line by line, so every text of others in a message passes through here.
const (
	// mostOfWord and mostOfText are how many bytes of a name or reason, and of a
	// sentence, a message repeats.
	mostOfWord = 100
	mostOfText = 1000
)

// Sanitize returns, on one line, a name or reason that another program or person wrote, at most 100
// bytes of it.
func Sanitize[T ~string](word T) string { return plain(string(word), mostOfWord) }

// SanitizeText returns, on one line, a sentence that another program or person wrote, at most 1000
// bytes of it.
func SanitizeText(text string) string { return plain(text, mostOfText) }

// SanitizeOwner names the owner in a reference.
func SanitizeOwner(ref *metav1.OwnerReference) string {
	return Sanitize(ref.APIVersion) + " " + Sanitize(ref.Kind) + " " + Sanitize(ref.Name)
}

// plain is a text on one line in which every character is visible, cut off after some bytes.
func plain(text string, most int) string {
	if len(text) <= most && utf8.ValidString(text) && strings.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var shown strings.Builder
	for _, r := range strings.ToValidUTF8(strings.TrimSpace(text), string(utf8.RuneError)) {
		piece := string(r)
		switch {
		case unicode.IsSpace(r):
			piece = " "
		case isHidden(r):
			piece = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		if shown.Len()+len(piece) > most {
			return shown.String() + "..."
		}
		shown.WriteString(piece)
	}
	return shown.String()
}

// isHidden reports whether a character is not visible but has an effect: control characters,
// ends of lines, and those that change the direction of the text around them.
func isHidden(r rune) bool { return !unicode.IsGraphic(r) }

// FewNames is how many names a message lists.
const FewNames = 3

// Few lists the first names, and says how many more there are.
func Few(names []string) string {
	if more := len(names) - FewNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:FewNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Timestamp formats a time for a message.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Plural is a word in the form for n things.
func Plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
