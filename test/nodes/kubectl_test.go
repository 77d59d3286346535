//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/test/harness"
)

func TestKubectlReachesMembers(t *testing.T) {
	forBoth(t, "kubectl logs, exec, attach, cp, debug and port-forward", func(t *testing.T, k kind) {
		s := newSet(t, k, 1, nil)
		target := "statefulset/" + name
		file := filepath.Join(t.TempDir(), "starts")
		for sentence, tc := range map[string]struct {
			args []string
			want string
		}{
			"logs of a set":                 {[]string{"logs", target}, "web-0, started 1 times"},
			"a command in a set":            {[]string{"exec", target, "--", "hostname"}, "web-0"},
			"a command in a pod":            {[]string{"exec", "web-0", "--", "cat", "/data/starts"}, "1"},
			"a container beside the others": {[]string{"debug", "web-0", "--image=localhost/busybox:dev", "--container=look", "--", "true"}, ""},
		} {
			output, err := k.kubectl(t.Context(), append([]string{"-n", s.ns}, tc.args...)...).CombinedOutput()
			if err != nil || !strings.Contains(string(output), tc.want) {
				t.Errorf("%s: got %v and %q, want %q", sentence, err, output, tc.want)
			}
		}
		// What is about pods alone, ours leaves to kubectl.
		if output, err := kubectl(t.Context(), "-n", s.ns, "cp", "web-0:/data/starts", file).CombinedOutput(); err != nil {
			t.Errorf("copying a file: got %v and %q", err, output)
		}
		if content, err := os.ReadFile(file); err != nil || string(content) != "1" {
			t.Errorf("the file that was copied: got %q, %v, want 1", content, err)
		}
		s.awaitPod(t, 0, "has the container that was added", func(pod *corev1.Pod) error {
			for _, c := range pod.Status.EphemeralContainerStatuses {
				if c.Name == "look" && c.State.Terminated != nil && c.State.Terminated.ExitCode == 0 {
					return nil
				}
			}
			return fmt.Errorf("got %v", pod.Status.EphemeralContainerStatuses)
		})
		s.forward(t, target)
		s.attach(t, target)
	})
}

// forward reaches the member of a set through a port of this machine.
func (s *set) forward(t *testing.T, target string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := s.kind.kubectl(ctx, "-n", s.ns, "port-forward", target, fmt.Sprintf(":%d", port))
	lines, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("forwarding a port: %v", err)
	}
	defer func() {
		stop()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(lines).ReadString('\n')
	found := regexp.MustCompile(`127\.0\.0\.1:(\d+)`).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("forwarding a port: got %q, %v", line, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+found[1]+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Errorf("asking through the port: %v", err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), `"name":"web-0"`) {
		t.Errorf("asking through the port: got %q, %v, want web-0 to answer", body, err)
	}
}

// attach sees what a member prints from then on.
func (s *set) attach(t *testing.T, target string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := s.kind.kubectl(ctx, "-n", s.ns, "attach", target, "--container=web")
	// What a member logs, it prints to its standard error.
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("attaching: %v", err)
	}
	defer func() {
		stop()
		_ = cmd.Wait()
	}()
	seen := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if strings.Contains(lines.Text(), "was told") {
				seen <- lines.Text()
				return
			}
		}
	}()
	harness.Eventually(t, "what the member prints is seen", func(context.Context) error {
		s.tell(t, 0, "yes")
		select {
		case <-seen:
			return nil
		default:
			return fmt.Errorf("nothing yet")
		}
	})
}
