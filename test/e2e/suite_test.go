//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/warmup"
)

// patience is how long a test waits for something that the cluster is expected to
// do by itself. It is far more than that takes on an idle machine.
const patience = 2 * time.Minute

// suite is what every test uses. It is set once, before the first test runs.
var suite struct {
	dir    string
	cache  string // what kubectl remembers of the cluster
	config *rest.Config
	host   kubernetes.Interface
	sets   versioned.Interface
}

func TestMain(m *testing.M) {
	if err := connect(); err != nil {
		fmt.Fprintf(os.Stderr, "e2e: %v\n", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(suite.cache)
	os.Exit(code)
}

func connect() error {
	suite.dir = os.Getenv("STATEFULSET_CLUSTER_DIR")
	if suite.dir == "" {
		return fmt.Errorf("STATEFULSET_CLUSTER_DIR is not set: run the tests with make test-e2e, or name the directory of a cluster that bin/cluster started")
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(suite.dir, "kubeconfig"))
	if err != nil {
		return fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	config.QPS = -1
	if suite.cache, err = os.MkdirTemp("", "e2e-kubectl-"); err != nil {
		return fmt.Errorf("creating a directory for kubectl: %w", err)
	}
	suite.config = config
	if suite.host, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the host client: %w", err)
	}
	if suite.sets, err = versioned.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the client of our group: %w", err)
	}
	if err := warmup.Wait(context.Background(), config); err != nil {
		return fmt.Errorf("waiting for the cluster's controllers: %w", err)
	}
	return nil
}

// namespace makes a namespace of the test's own, and removes it when the test has
// ended, without waiting for it to be gone.
func namespace(t *testing.T) string {
	t.Helper()
	ns, err := suite.host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = suite.host.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{})
	})
	return ns.Name
}

// kubectl runs the cluster's kubectl as a user would, and fails the test if that
// fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, err := tryKubectl(t, "", args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr)
	}
	return stdout
}

// kubectlApply applies a manifest, given as text.
func kubectlApply(t *testing.T, manifest string, args ...string) {
	t.Helper()
	args = append([]string{"apply", "-f", "-"}, args...)
	if stdout, stderr, err := tryKubectl(t, manifest, args...); err != nil {
		t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr)
	}
}

func tryKubectl(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args = append([]string{"--kubeconfig", filepath.Join(suite.dir, "kubeconfig"), "--cache-dir", suite.cache}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(suite.dir, "kubectl"), args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

// eventually waits until check is satisfied; if it never is, the test fails with
// what check said last.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v; last seen: %v", what, err, last)
	}
}
