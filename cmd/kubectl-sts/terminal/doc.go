// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package terminal is the one place through which text reaches a terminal. Much of what
// the plugin prints was written by others: messages, reasons, names in owner references,
// images. In a terminal, control characters in it would move the cursor, rename the window
// or forge lines, and marks of direction would reorder what is read.
//
// Commands get streams from Guard, so that a new one is safe without knowing of this
// package. Where one line is one fact, its values go through Line besides, since a guard
// cannot tell a line break of ours from one of a message.
package terminal
