// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import "k8s.io/client-go/rest"

// Warnings returns a handler that passes warnings of servers to another handler as single lines.
func Warnings(to rest.WarningHandler) rest.WarningHandler { return warnings{to} }

type warnings struct{ to rest.WarningHandler }

func (w warnings) HandleWarningHeader(code int, agent, text string) {
	w.to.HandleWarningHeader(code, agent, Line(text))
}
