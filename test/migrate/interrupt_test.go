//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

var errInterrupted = errors.New("interrupted")

// afterSteps ends a run when so many steps are done.
func afterSteps(steps int) func(line string) error {
	return func(line string) error {
		if strings.Contains(line, ": done: ") {
			if steps--; steps == 0 {
				return errInterrupted
			}
		}
		return nil
	}
}

// interruptible is a state in which a move takes every step that there is.
func interruptible(t *testing.T, ns string) {
	set := web(2)
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	create(t, ns, set)
	waitReady(t, ns, 2, 2)
	patch(t, ns, nowhere)
	waitReady(t, ns, 1, 1)
}

// mostSteps is more than a move has.
const mostSteps = 10

// interruptions are after how many steps a move is interrupted: after each, or with
// -test.short after every third from the given one on.
func interruptions(short int) (after []int) {
	first, every := 1, 1
	if testing.Short() {
		first, every = short, 3
	}
	for steps := first; steps < mostSteps; steps += every {
		after = append(after, steps)
	}
	return after
}

func TestAMoveIsCompletedAfterAnInterruption(t *testing.T) {
	for _, steps := range interruptions(2) {
		t.Run(fmt.Sprintf("after step %d", steps), func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			interruptible(t, ns)
			before, revisions := look(t, ns), theirRevisions(t, ns)

			interrupted(t, ns, steps, "web")
			expectSame(t, "after the interruption", before, look(t, ns))
			migrate(t, ns, "web")
			expectSame(t, "after the move", before, look(t, ns))
			expectOwner(t, "after the move", ns, ourVersion, revisions)

			interrupted(t, ns, steps, "web", "--back")
			expectSame(t, "after the interruption of the move back", before, look(t, ns))
			migrate(t, ns, "web", "--back")
			expectSame(t, "after the move back", before, look(t, ns))
			expectOwner(t, "after the move back", ns, theirVersion, revisions)
		})
	}
}

func TestAMoveIsUndoneAfterAnInterruption(t *testing.T) {
	for _, steps := range interruptions(1) {
		t.Run(fmt.Sprintf("after step %d", steps), func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			interruptible(t, ns)
			before, revisions := look(t, ns), theirRevisions(t, ns)

			interrupted(t, ns, steps, "web")
			undo(t, ns, "--back")
			expectSame(t, "after undoing the move", before, look(t, ns))
			expectOwner(t, "after undoing the move", ns, theirVersion, revisions)

			migrate(t, ns, "web")
			interrupted(t, ns, steps, "web", "--back")
			undo(t, ns)
			expectSame(t, "after undoing the move back", before, look(t, ns))
			expectOwner(t, "after undoing the move back", ns, ourVersion, revisions)
		})
	}
}

// undo undoes a move. One that was over already is made in the other direction.
func undo(t *testing.T, ns string, otherwise ...string) {
	t.Helper()
	out, err := run{namespace: ns}.migrate(t, "web", "--undo")
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "nothing to undo"):
		migrate(t, ns, append([]string{"web"}, otherwise...)...)
	default:
		t.Fatalf("undoing the move: %v\n%s", err, out)
	}
}

// interrupted runs the command until so many steps are done, or to its end if there are
// not so many.
func interrupted(t *testing.T, ns string, steps int, args ...string) {
	t.Helper()
	out, err := run{namespace: ns, after: afterSteps(steps)}.migrate(t, args...)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("kubectl sts migrate %s: got %v, want it to be interrupted\n%s", strings.Join(args, " "), err, out)
	}
}

func TestAKilledCommandIsRunAgain(t *testing.T) {
	for _, lines := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("killed after line %d", lines), func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			interruptible(t, ns)
			before, revisions := look(t, ns), theirRevisions(t, ns)
			killed(t, ns, lines, "web")
			migrate(t, ns, "web")
			killed(t, ns, lines, "web", "--back")
			migrate(t, ns, "web", "--back")
			expectSame(t, "after both moves", before, look(t, ns))
			expectOwner(t, "after both moves", ns, theirVersion, revisions)
		})
	}
}

// killed runs the command as a process of its own, and kills it with SIGKILL when it has
// printed so many lines.
func killed(t *testing.T, ns string, lines int, args ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("finding the test binary: %v", err)
	}
	command := exec.CommandContext(t.Context(), self, append(args, "--kubeconfig", suite.Kubeconfig(), "--namespace", ns)...)
	command.Env = append(os.Environ(), asPlugin+"=1")
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatalf("starting the command: %v", err)
	}
	for scanner := bufio.NewScanner(out); lines > 0 && scanner.Scan(); lines-- {
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatalf("killing the command: %v", err)
	}
	_ = command.Wait()
}
