//go:build hosts

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

const (
	// policiesSince is the minor version of Kubernetes 1 from which on hosts serve mutating
	// admission policies in version v1.
	policiesSince = 36
	programs      = "../../bin"
)

// suite is set once, before the first test runs.
var suite struct{ *harness.Cluster }

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &suite.Cluster)) }

// hostMinor is the host's minor version, and its whole version.
func hostMinor(t *testing.T) (minor int, whole string) {
	t.Helper()
	info, err := suite.Host.Discovery().ServerVersion()
	if err != nil {
		t.Fatalf("asking for the host's version: %v", err)
	}
	if minor, err = strconv.Atoi(info.Minor); err != nil {
		t.Fatalf("the host's minor version is %q: %v", info.Minor, err)
	}
	return minor, info.GitVersion
}

// program runs one of ours, and returns what it printed on both streams.
func program(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, name), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func plugin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return program(t, "kubectl-sts", append([]string{"--kubeconfig", filepath.Join(suite.Dir, "kubeconfig")}, args...)...)
}

// serverLog is what our server has logged.
func serverLog(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(suite.Dir, "logs", "statefulset-apiserver.log"))
	if err != nil {
		t.Fatalf("reading the server's log: %v", err)
	}
	return string(text)
}

func waitReady(t *testing.T, ns, name string) {
	t.Helper()
	harness.Eventually(t, "set "+name+" is ready", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s := set.Status
		if want := *set.Spec.Replicas; s.ObservedGeneration != set.Generation || s.ReadyReplicas != want || s.UpdatedReplicas != want {
			return fmt.Errorf("generation %d of %d is seen, %d ready and %d updated of %d", s.ObservedGeneration, set.Generation, s.ReadyReplicas,
				s.UpdatedReplicas, want)
		}
		return nil
	})
}

// contains reports an error that shows the text if part is in it and should not be, or
// the other way round.
func contains(text, part string, want bool) error {
	if got := strings.Contains(text, part); got != want {
		return fmt.Errorf("%q is in it: %v, want %v; it is:\n%s", part, got, want, text)
	}
	return nil
}
