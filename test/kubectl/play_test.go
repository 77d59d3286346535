//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is how long a step may take. It is far more than it takes on an idle machine.
const patience = 2 * time.Minute

// played is what one side has printed, step by step, already in the words that all sides share.
type played struct {
	outputs []string
	// failed tells which steps had an exit code other than 0.
	failed  []bool
	audited string
}

// play runs the steps of a row on one side, in a namespace of its own.
func play(t *testing.T, r row, s side) played {
	t.Helper()
	stage := newStage(t, r, s)
	var result played
	for _, next := range r.Steps {
		output, code := stage.run(t, next)
		result.outputs = append(result.outputs, inSharedWords(next, output, code, stage.namespace))
		result.failed = append(result.failed, code != 0)
		if s.plain() && r.Plain == refused {
			return result
		}
	}
	if r.Audited > 0 {
		result.audited = askedOfMembers(t, stage.namespace, r.Audited)
	}
	return result
}

// run runs a step until its output is as it should become, and returns what it printed last.
func (g *stage) run(t *testing.T, next step) (output string, code int) {
	t.Helper()
	if next.During != "" {
		return g.watch(t, next)
	}
	if next.Until == "" {
		return g.once(t, next)
	}
	wanted := regexp.MustCompile(next.Until)
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		output, code = g.once(t, next)
		// Plain kubectl may refuse for good; a conflict only means that somebody was faster.
		refused := code != 0 && g.side.plain() && !strings.Contains(output, "(Conflict)")
		return refused || wanted.MatchString(output), nil
	})
	if err != nil {
		t.Errorf("%s: %s: waiting for %q: %v; last printed:\n%s", g.side.name, next.Run, next.Until, err, output)
	}
	return output, code
}

func (g *stage) once(t *testing.T, next step) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := g.kubectl(ctx, next.Run, next)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	output, code = finish(t, cmd.Run(), &stdout, &stderr)
	if next.Compare == "stdout" {
		return stdout.String(), code
	}
	return output, code
}

// watch runs a command that does not end by itself, and another one meanwhile.
func (g *stage) watch(t *testing.T, next step) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := g.kubectl(ctx, next.Run, next)
	var stdout, stderr shared
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: starting %q: %v", g.side.name, next.Run, err)
	}
	wanted := regexp.MustCompile(next.Until)
	first := func(context.Context) (bool, error) { return stdout.String() != "", nil }
	last := func(context.Context) (bool, error) { return wanted.MatchString(stdout.String()), nil }
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, first); err != nil {
		t.Errorf("%s: %s printed nothing: %v; %s", g.side.name, next.Run, err, stderr.String())
	}
	if out, code := g.once(t, step{Run: next.During}); code != 0 {
		t.Errorf("%s: %s: exit code %d\n%s", g.side.name, next.During, code, out)
	}
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, last); err != nil {
		t.Errorf("%s: %s: waiting for %q: %v; printed:\n%s%s", g.side.name, next.Run, next.Until, err, stdout.String(), stderr.String())
	}
	cancel()
	_ = cmd.Wait()
	return stdout.String() + stderr.String(), 0
}

func (g *stage) kubectl(ctx context.Context, line string, next step) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.side.binary, g.side.command(line, next.Raw, g.namespace)...)
	cmd.Stdin = strings.NewReader(g.side.fill(next.Stdin, g.namespace))
	cmd.Env = append(os.Environ(),
		"PATH="+suite.plugins+":"+os.Getenv("PATH"),
		"KUBECONFIG="+g.kubeconfigs[next.As],
		"KUBECACHEDIR="+suite.cache,
		"KUBECTL="+g.side.binary,
		"KUBE_EDITOR="+g.side.fill(next.Editor, g.namespace),
	)
	return cmd
}

func finish(t *testing.T, err error, stdout, stderr fmt.Stringer) (output string, code int) {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		code = exit.ExitCode()
	default:
		t.Fatalf("running kubectl: %v", err)
	}
	return stdout.String() + stderr.String(), code
}
