//go:build docs

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"statefulset.dev/test/harness"
)

// nodes says that the cluster has real nodes, and nothing of ours.
var nodes = flag.Bool("nodes", false, "play what needs real nodes, on a cluster of them that has nothing of ours")

const (
	system = "statefulset-system"
	image  = "statefulset-apiserver:dev"
)

// TestPagesOnNodes runs the commands that need processes, one page after the other, because each installs and removes the server.
func TestPagesOnNodes(t *testing.T) {
	if !*nodes {
		t.Skip("the cluster has no real nodes")
	}
	for _, p := range allPages(t) {
		if !has(p, onNodes) {
			continue
		}
		t.Run(nameOf(p), func(t *testing.T) {
			r := newReader(t, p)
			r.patience = patienceWithNodes
			r.stands = strings.NewReplacer("REGISTRY/statefulset-apiserver:VERSION", image, "REGISTRY/", "", "VERSION", "dev", "IMAGE", image)
			playPage(t, p, r, onNodes)
		})
	}
}

// install removes what is installed, with its data, and installs something else.
func install(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: installing", what)
	administer(t, "kubectl-sts", "uninstall", "--delete-sets", "--timeout=4m")
	// The host takes a moment to forget the policy that protects the namespace.
	harness.EventuallyWithin(t, patience, "the data is gone", func(ctx context.Context) error {
		_, _, err := suite.Kubectl(ctx, "", "delete", "namespace", system, "--ignore-not-found", "--timeout=1m")
		return err
	})
	switch what {
	case "single":
		administer(t, "kubectl-sts", "install", "--image="+image, "--single", "--timeout=4m")
	case "ha":
		administer(t, "kubectl-sts", "install", "--image="+image, "--timeout=4m")
		administer(t, "kubectl", "-n", system, "rollout", "status", "statefulset/statefulset-apiserver-etcd", "--timeout=4m")
		administer(t, "kubectl", "-n", system, "rollout", "status", "deployment/statefulset-apiserver", "--timeout=4m")
	}
}

// administer runs a program of ours or of the cluster's, outside of any page.
func administer(t *testing.T, program string, args ...string) {
	t.Helper()
	at := suite.Path(program)
	if program != "kubectl" {
		at = filepath.Join(root, "bin", program)
	}
	command := exec.CommandContext(t.Context(), at, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+suite.Kubeconfig())
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}
