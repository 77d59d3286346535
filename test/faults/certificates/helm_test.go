//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	helmProgram = "../../../bin/helm"
	chart       = "../../../artifacts/chart"
)

// TestARoleThatIsSwitchedOffStaysWithoutRules upgrades a release: to delete a role is what the guard
// refuses, and then the upgrade would fail.
func TestARoleThatIsSwitchedOffStaysWithoutRules(t *testing.T) {
	s := open(t)
	h := newHelm(t, s, "rbac-options.yaml", "rbac-reads.yaml", "rbac-certificates.yaml")
	t.Cleanup(func() {
		s.kubectl(t, "--namespace", system, "delete", "secrets", "-l", "owner=helm")
		s.kubectl(t, "apply", "--kustomize="+s.Path("registration"), "--server-side", "--force-conflicts")
	})
	rules := func() map[string]int {
		count := map[string]int{}
		for _, name := range []string{"statefulset-controller-gates", "statefulset-controller-in-place", "statefulset-controller-eviction",
			"statefulset-apiserver-reads", "statefulset-apiserver-registration"} {
			role, err := s.host.RbacV1().ClusterRoles().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatalf("reading a role: %v", err)
			}
			count[name] = len(role.Rules)
		}
		role, err := s.host.RbacV1().Roles(system).Get(t.Context(), "statefulset-apiserver-certificates", metav1.GetOptions{})
		if err != nil {
			t.Fatalf("reading a role: %v", err)
		}
		count[role.Name] = len(role.Rules)
		return count
	}
	h.run(t, "install", "--set=change=a", "--take-ownership", "--force-conflicts")
	for name, got := range rules() {
		if got == 0 {
			t.Errorf("rules of %s by default: got none, want some", name)
		}
	}
	h.run(t, "upgrade", "--set=change=a,rights.gates=false,rights.inPlace=false,rights.eviction=false,rights.reads=false,tls.mode=certManager",
		"--force-conflicts")
	for name, got := range rules() {
		if got > 0 {
			t.Errorf("rules of %s after it was switched off: got %d, want none", name, got)
		}
	}
	h.run(t, "upgrade", "--set=change=a,rights.gates=false", "--force-conflicts")
	for name, got := range rules() {
		if off := name == "statefulset-controller-gates"; off != (got == 0) {
			t.Errorf("rules of %s after the others were switched on again: got %d, want that it has some: %t", name, got, !off)
		}
	}
}

// helm installs some templates of the chart, and a ConfigMap that changes, so that the cluster's own
// registration stays.
type helm struct{ program, config, chart string }

func newHelm(t *testing.T, s *suite, templates ...string) helm {
	t.Helper()
	program, err := filepath.Abs(helmProgram)
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		t.Fatalf("looking for Helm: %v; make bin/helm builds it", err)
	}
	dir := t.TempDir()
	copied := []string{"Chart.yaml", "values.yaml"}
	for _, name := range append([]string{"_helpers.tpl", "namespace.yaml"}, templates...) {
		copied = append(copied, filepath.Join("templates", name))
	}
	for _, name := range copied {
		copyFile(t, filepath.Join(chart, name), filepath.Join(dir, name))
	}
	const probe = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: change, namespace: statefulset-system}\ndata: {change: {{ .Values.change }}}\n"
	if err := os.WriteFile(filepath.Join(dir, "templates", "change.yaml"), []byte(probe), 0o600); err != nil {
		t.Fatalf("writing a chart: %v", err)
	}
	return helm{program, s.Path("kubeconfig"), dir}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatalf("copying the chart: %v", err)
	}
}

func (h helm) run(t *testing.T, args ...string) {
	t.Helper()
	given := []string{"--namespace", system, "--kubeconfig", h.config, args[0], "statefulset-apiserver"}
	if args[0] == "install" || args[0] == "upgrade" {
		given = append(given, h.chart)
	}
	if out, err := exec.CommandContext(t.Context(), h.program, append(given, args[1:]...)...).CombinedOutput(); err != nil {
		t.Fatalf("helm %v: %v: %s", args, err, out)
	}
}
