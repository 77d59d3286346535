//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"statefulset.dev/cmd/kubectl-sts/doctor"
)

// judgeDoctor counts the sets whose refused expression the plugin's doctor does not list.
func (w *world) judgeDoctor(expressions map[string]hostileExpression) (violations int) {
	w.t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = new(w.Cluster.Kubeconfig()), new(w.namespace)
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	command := doctor.NewCommand(flags, streams)
	command.SetArgs(nil)
	err := command.ExecuteContext(w.t.Context()) // an error if a set is stalled already
	for name, e := range expressions {
		line := fmt.Sprintf("warn  set %s/%s: %s: ", w.namespace, name, e.field)
		if !strings.Contains(out.String(), line) {
			violations++
			w.t.Errorf("doctor: got no line that begins with %q, want one:\n%s\nerror: %v", line, out, err)
		}
	}
	return violations
}
