// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"io"
	"slices"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// Guard returns streams whose outputs escape what Text escapes, also for files and pipes.
func Guard(streams genericiooptions.IOStreams) genericiooptions.IOStreams {
	streams.Out, streams.ErrOut = Writer(streams.Out), Writer(streams.ErrOut)
	return streams
}

// GuardTerminals is Guard for outputs that are terminals. Files and pipes get every byte unchanged,
// for programs that read the output of kubectl.
func GuardTerminals(streams genericiooptions.IOStreams) genericiooptions.IOStreams {
	if printers.IsTerminal(streams.Out) {
		streams.Out = Writer(streams.Out)
	}
	if printers.IsTerminal(streams.ErrOut) {
		streams.ErrOut = Writer(streams.ErrOut)
	}
	return streams
}

// Writer returns a writer that passes its text through Text and writes the result to out.
func Writer(out io.Writer) io.Writer { return &writer{out: out} }

type writer struct {
	out io.Writer
	// begun has the first bytes of a character whose other bytes have not arrived yet.
	begun []byte
}

func (w *writer) Write(text []byte) (int, error) {
	all := slices.Concat(w.begun, text)
	whole := len(all) - unfinished(all)
	if _, err := io.WriteString(w.out, Text(string(all[:whole]))); err != nil {
		return 0, err
	}
	w.begun = all[whole:]
	return len(text), nil
}

// unfinished returns how many bytes at the end are the beginning of an incomplete character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}
