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
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/warmup"
)

const (
	// patience bounds every wait. It is far more than is needed on an idle machine.
	patience = 4 * time.Minute
	// policiesSince is the minor version of Kubernetes 1 from which on hosts serve mutating
	// admission policies in version v1.
	policiesSince = 36
	programs      = "../../bin"
)

// suite is set once, before the first test runs.
var suite struct {
	dir  string
	host kubernetes.Interface
	sets versioned.Interface
}

func TestMain(m *testing.M) {
	if err := connect(); err != nil {
		fmt.Fprintf(os.Stderr, "hosts: %v\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func connect() error {
	suite.dir = os.Getenv("STATEFULSET_CLUSTER_DIR")
	if suite.dir == "" {
		return fmt.Errorf("STATEFULSET_CLUSTER_DIR is not set: run the tests with make test-hosts, or name the directory of a cluster that bin/cluster started")
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(suite.dir, "kubeconfig"))
	if err != nil {
		return fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	config.QPS = -1
	if err := clients(config); err != nil {
		return err
	}
	return warmup.Wait(context.Background(), config)
}

func clients(config *rest.Config) (err error) {
	if suite.host, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the host client: %w", err)
	}
	if suite.sets, err = versioned.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the client of our group: %w", err)
	}
	return nil
}

// hostMinor is the host's minor version, and its whole version.
func hostMinor(t *testing.T) (minor int, whole string) {
	t.Helper()
	info, err := suite.host.Discovery().ServerVersion()
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
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, name), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func plugin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return program(t, "kubectl-sts", append([]string{"--kubeconfig", filepath.Join(suite.dir, "kubeconfig")}, args...)...)
}

// serverLog is what our server has logged.
func serverLog(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(suite.dir, "logs", "statefulset-apiserver.log"))
	if err != nil {
		t.Fatalf("reading the server's log: %v", err)
	}
	return string(text)
}

func namespace(t *testing.T) string {
	t.Helper()
	ns, err := suite.host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "hosts-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	return ns.Name
}

func newSet(name string, replicas int32) *v1.StatefulSet {
	labels := map[string]string{"app": name}
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.StatefulSetSpec{
			Replicas: new(replicas), ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}},
			},
		},
	}
}

func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v; last seen: %v", what, err, last)
	}
}

func waitReady(t *testing.T, ns, name string) {
	t.Helper()
	eventually(t, "set "+name+" is ready", func(ctx context.Context) error {
		set, err := suite.sets.AppsV1().StatefulSets(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s := set.Status
		if want := *set.Spec.Replicas; s.ObservedGeneration != set.Generation || s.ReadyReplicas != want || s.UpdatedReplicas != want {
			return fmt.Errorf("generation %d of %d is seen, %d ready and %d updated of %d", s.ObservedGeneration, set.Generation, s.ReadyReplicas, s.UpdatedReplicas, want)
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
