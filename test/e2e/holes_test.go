//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	v1 "statefulset.dev/api/apps/v1"
)

// TestLifeOfTheExampleWithHoles creates the example of reserved ordinals, and removes and
// brings back members of it.
func TestLifeOfTheExampleWithHoles(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/holes.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	pods.expect(t, 0, "added db-0", "added db-2", "added db-3")
	set := waitReady(t, ns, "db", 3)
	expectOrdinals(t, set, v1.OrdinalRange{First: 0}, v1.OrdinalRange{First: 2, Last: new(int32(3))})

	mark := pods.mark()
	if got, want := plugin(t, "scale", "statefulset/db", "--remove=db-2", "-n", ns),
		"statefulset.apps.statefulset.dev/db: db-2 removed, 2 replicas left\n"; got != want {
		t.Errorf("kubectl sts says %q, want %q", got, want)
	}
	pods.expect(t, mark, "deleted db-2")
	set = waitReady(t, ns, "db", 2)
	expectOrdinals(t, set, v1.OrdinalRange{First: 0}, v1.OrdinalRange{First: 3})
	if claims := claimUIDs(t, ns); claims["data-db-2"] == "" {
		t.Errorf("claims are %v, want that of the removed member among them", claims)
	}

	mark = pods.mark()
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", `{"spec":{"replicas":4,"ordinals":{"reserved":null}}}`)
	pods.expect(t, mark, "added db-1", "added db-2")
	set = waitReady(t, ns, "db", 4)
	expectOrdinals(t, set)
}

// plugin runs kubectl sts, and fails the test if that fails.
func plugin(t *testing.T, args ...string) string {
	t.Helper()
	output, err := tryPlugin(t, args...)
	if err != nil {
		t.Fatalf("kubectl sts %v: %v\n%s", args, err, output)
	}
	return output
}

// tryPlugin runs kubectl sts.
func tryPlugin(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "../../bin/kubectl-sts", args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+suite.Kubeconfig())
	all, err := cmd.CombinedOutput()
	return string(all), err
}

func expectOrdinals(t *testing.T, set *v1.StatefulSet, want ...v1.OrdinalRange) {
	t.Helper()
	same := func(a, b v1.OrdinalRange) bool { return a.First == b.First && a.End() == b.End() }
	if got := set.Status.Ordinals; !slices.EqualFunc(got, want, same) {
		t.Errorf("status.ordinals are %v, want %v", got, want)
	}
}
