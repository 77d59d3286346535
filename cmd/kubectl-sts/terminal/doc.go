// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package terminal is the one place through which text reaches a terminal. Much of the text that
// the plugin prints comes from other writers: messages, reasons, names in owner references, images.
// In a terminal, control characters in it would move the cursor, rename the window or forge lines,
// and marks of text direction would reorder what users read.
//
// Commands get streams from Guard, so that a new command is safe without knowing this package. If
// one line is one fact, its values also pass through Line, because a guard cannot distinguish a
// line break of the plugin from one in a message.
package terminal
