//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// treeCommand is the command as a process of its own.
func treeCommand(t *testing.T, ns string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("finding the test binary: %v", err)
	}
	command := exec.CommandContext(t.Context(), self, append(args, "--kubeconfig", suite.Kubeconfig(), "--namespace", ns)...)
	command.Env = append(os.Environ(), asPlugin+"=tree", "TERM=xterm-256color")
	return command
}

// once is what the command shows in a terminal of that width without --watch.
func once(t *testing.T, ns string, width uint16) string {
	t.Helper()
	command := treeCommand(t, ns, "web")
	file, err := pty.StartWithSize(command, &pty.Winsize{Rows: 50, Cols: width})
	if err != nil {
		t.Fatalf("starting the command in a terminal: %v", err)
	}
	defer file.Close()
	screen := newTerminal(int(width), 50)
	// The reader ends with an error when the program has ended.
	_, _ = io.Copy(screen, file)
	if err := command.Wait(); err != nil {
		t.Fatalf("kubectl sts tree web: %v\n%s", err, screen.text())
	}
	return screen.text()
}

func TestTheTreeIsKeptUpToDate(t *testing.T) {
	for _, width := range []uint16{80, 200} {
		t.Run(fmt.Sprintf("in %d columns", width), func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			createOurs(t, ns, 3)
			waitOursReady(t, ns, 3, 3)

			command := treeCommand(t, ns, "web", "--watch")
			file, err := pty.StartWithSize(command, &pty.Winsize{Rows: 50, Cols: width})
			if err != nil {
				t.Fatalf("starting the command in a terminal: %v", err)
			}
			defer file.Close()
			screen := newTerminal(int(width), 50)
			go func() { _, _ = io.Copy(screen, file) }()

			shows(t, screen, ns, width, "3 of 3 ready")
			patchOurs(t, ns, `{"spec":{"replicas":5}}`)
			waitOursReady(t, ns, 5, 5)
			shows(t, screen, ns, width, "5 of 5 ready")
			patchOurs(t, ns, nowhere)
			waitOursReady(t, ns, 4, 1)
			shows(t, screen, ns, width, "Unschedulable")

			other := 280 - width
			screen.resize(int(other), 50)
			if err := pty.Setsize(file, &pty.Winsize{Rows: 50, Cols: other}); err != nil {
				t.Fatalf("resizing the terminal: %v", err)
			}
			shows(t, screen, ns, other, "Unschedulable")

			if err := suite.Sets.AppsV1().StatefulSets(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
				t.Fatalf("deleting the set: %v", err)
			}
			harness.Eventually(t, "the screen shows that the set is deleted", func(context.Context) error {
				if text := screen.text(); !strings.Contains(text, "the set has been deleted") {
					return fmt.Errorf("it shows\n%s", text)
				}
				return nil
			})
			if _, err := file.WriteString("q"); err != nil {
				t.Fatalf("pressing q: %v", err)
			}
			if err := command.Wait(); err != nil {
				t.Errorf("after q: %v, want the command to succeed", err)
			}
		})
	}
}

// shows waits until the screen shows words, and what the command shows without --watch.
func shows(t *testing.T, screen *terminal, ns string, width uint16, words string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the screen shows %q, and what the command shows once", words), func(context.Context) error {
		want, got := once(t, ns, width), screen.text()
		if got != want || !strings.Contains(got, words) {
			return fmt.Errorf("it shows\n%s\nwant\n%s", got, want)
		}
		return nil
	})
}

func createOurs(t *testing.T, ns string, replicas int32) {
	t.Helper()
	theirs := web(replicas)
	ours := &v1.StatefulSet{ObjectMeta: theirs.ObjectMeta}
	ours.Spec.Replicas, ours.Spec.Selector, ours.Spec.Template = theirs.Spec.Replicas, theirs.Spec.Selector, theirs.Spec.Template
	ours.Spec.ServiceName, ours.Spec.VolumeClaimTemplates = theirs.Spec.ServiceName, theirs.Spec.VolumeClaimTemplates
	if _, err := suite.Sets.AppsV1().StatefulSets(ns).Create(t.Context(), ours, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating our set: %v", err)
	}
}

func TestTheTreeIsPrintedByLinesWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	createOurs(t, ns, 2)
	waitOursReady(t, ns, 2, 2)
	out, err := treeCommand(t, ns, "web").Output()
	if err != nil {
		t.Fatalf("kubectl sts tree web: %v", err)
	}
	if text := string(out); strings.Contains(text, "\x1b") || !strings.Contains(text, "web-1  Running  ready") {
		t.Errorf("kubectl sts tree web printed\n%s\nwant web-1 to run, and no colours", text)
	}

	command := treeCommand(t, ns, "web", "-w")
	lines, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatalf("starting the command: %v", err)
	}
	rest := bufio.NewReader(lines)
	if first, err := rest.ReadString('\n'); err != nil || !strings.HasPrefix(first, "web: 2 of 2 ready") {
		t.Fatalf("kubectl sts tree web -w printed %q first with error %v, want what it says of the set", first, err)
	}
	if err := suite.Sets.AppsV1().StatefulSets(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the set: %v", err)
	}
	text, err := io.ReadAll(rest)
	if err == nil {
		err = command.Wait()
	}
	if err != nil || !strings.Contains(string(text), "Deleted: the set has been deleted") {
		t.Errorf("kubectl sts tree web -w: %v\n%s\nwant it to end when the set is deleted", err, text)
	}
	_, err = treeCommand(t, ns, "web").Output()
	if err == nil {
		t.Error("kubectl sts tree of a set that does not exist succeeds")
	}
}
