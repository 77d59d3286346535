//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/test/harness"
)

// cluster is shared by all tests: real nodes take time to start.
var cluster *harness.Cluster

// results are the rows of the table, in the order of the tests.
var results []result

type result struct {
	what, kind string
	failed     bool
}

func TestMain(m *testing.M) {
	opened, err := harness.Open()
	if err != nil {
		fmt.Fprintf(os.Stderr, "opening the cluster: %v\n", err)
		os.Exit(1)
	}
	cluster = opened
	code := m.Run()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tKIND\tRESULT")
	for _, r := range results {
		verdict := "ok"
		if r.failed {
			verdict = "FAILED"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", r.what, r.kind, verdict)
	}
	_ = table.Flush()
	os.Exit(code)
}

// kind is one of the two that are compared.
type kind struct {
	name string
	gvr  schema.GroupVersionResource
	// kubectl begins a command for a set of this kind.
	kubectl func(ctx context.Context, args ...string) *exec.Cmd
}

func kinds() []kind {
	const resource = "statefulsets"
	return []kind{
		{"ours", schema.GroupVersionResource{Group: "apps.statefulset.dev", Version: "v1", Resource: resource}, plugin},
		{"built-in", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}, kubectl},
	}
}

func kubectl(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, cluster.Path("kubectl"), append([]string{"--kubeconfig=" + cluster.Kubeconfig()}, args...)...)
}

// plugin is how kubectl runs ours.
func plugin(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program("kubectl-sts"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig())
	return cmd
}

func program(name string) string {
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", name))
	if err != nil {
		panic(err) // there is no current directory
	}
	return path
}

// forBoth runs a test with each kind, and notes the results.
func forBoth(t *testing.T, what string, test func(t *testing.T, k kind)) {
	for _, k := range kinds() {
		passed := t.Run(k.name, func(t *testing.T) { test(t, k) })
		results = append(results, result{what, k.name, !passed})
	}
}

// forOurs runs a test of what only ours has, and notes the result.
func forOurs(t *testing.T, what string, test func(t *testing.T, k kind)) {
	k := kinds()[0]
	passed := t.Run(k.name, func(t *testing.T) { test(t, k) })
	results = append(results, result{what, k.name, !passed})
}

// sts runs a command of the plugin for the namespace of the set, and returns what it says.
func (s *set) sts(t *testing.T, args ...string) (string, error) {
	t.Helper()
	output, err := plugin(t.Context(), append(args, "-n", s.ns)...).CombinedOutput()
	return string(output), err
}

// node does something to a node with the tool of the cluster.
func node(t *testing.T, verb, name string) {
	t.Helper()
	args := []string{"node", verb, name, "--dir", cluster.Dir, "--images", filepath.Join(filepath.Dir(program("images")), "images")}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program("cluster"), args...)
	cmd.Dir = filepath.Dir(filepath.Dir(program("cluster")))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("node %s %s: %v\n%s", verb, name, err, output)
	}
}
