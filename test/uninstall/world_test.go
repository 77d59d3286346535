//go:build uninstall

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"statefulset.dev/cmd/kubectl-sts/doctor"
	"statefulset.dev/cmd/kubectl-sts/uninstall"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

const (
	system     = "statefulset-system"
	apiService = "v1.apps.statefulset.dev"
	// prompt is how long a namespace may take to go when nothing is in its way any more.
	prompt    = time.Minute
	artifacts = "../../artifacts"
)

// world is a cluster with an installation, as it was registered.
type world struct {
	*lab.Lab
	program lab.Program
	server  *lab.Process
	life    *testing.T
}

func open(t *testing.T) *world {
	t.Helper()
	l := lab.Open(t)
	w := &world{Lab: l, program: l.TakeOver(t, lab.Server), life: t}
	w.install(t)
	if err := l.WarmUp(t.Context()); err != nil {
		t.Fatalf("waiting for the cluster's controllers: %v", err)
	}
	return w
}

// install applies what the cluster was registered with, and what it leaves out because the
// server is a process, and starts that.
func (w *world) install(t *testing.T) {
	t.Helper()
	w.kubectl(t, "apply", "--kustomize="+w.Path("registration"))
	w.kubectl(t, "apply", "--filename="+filepath.Join(artifacts, "base", "storage.yaml"),
		"--filename="+filepath.Join(artifacts, "base", "deployment.yaml"),
		"--filename="+filepath.Join(artifacts, "ha", "poddisruptionbudget.yaml"))
	w.server = w.Start(w.life, w.program)
	w.awaitServed(t)
	w.awaitGuard(t)
}

func (w *world) awaitServed(t *testing.T) {
	t.Helper()
	w.kubectl(t, "annotate", "--overwrite", "apiservice", apiService, "test/look="+fmt.Sprint(time.Now().UnixNano()))
	harness.Eventually(t, "the cluster serves the API", func(ctx context.Context) error {
		_, err := w.Sets.AppsV1().StatefulSets("").List(ctx, metav1.ListOptions{})
		return err
	})
}

// follow stops the server if its Deployment is gone.
func (w *world) follow(t *testing.T) {
	t.Helper()
	_, err := w.Host.AppsV1().Deployments(system).Get(t.Context(), "statefulset-apiserver", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		w.stop(t)
	}
}

func (w *world) stop(t *testing.T) {
	t.Helper()
	select {
	case <-w.server.Exited():
	default:
		w.server.Stop(t, 90*time.Second)
	}
}

// command runs a command of the plugin. The writes that it may make are counted down from
// budget, unless that is below zero.
func (w *world) command(t *testing.T, budget int, args ...string) (string, error) {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	kubeconfig := w.Path("kubeconfig")
	flags.KubeConfig = &kubeconfig
	if budget >= 0 {
		flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
			config.Wrap(interruptedAfter(budget))
			return config
		}
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	command := uninstall.NewCommand(flags, streams)
	if args[0] == "doctor" {
		command = doctor.NewCommand(flags, streams)
	}
	command.SilenceErrors = true
	command.SetArgs(args[1:])
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func (w *world) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return w.MustKubectl(t, "", args...)
}

func (w *world) tryKubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	stdout, stderr, err := w.Kubectl(t.Context(), "", args...)
	return stdout + stderr, err
}

// members are the pods and claims of a namespace's sets, by name, with their UIDs.
type members struct {
	*harness.Members
	w *world
}

// settle creates a namespace with a set whose claims, too, go with it.
func (w *world) settle(t *testing.T, replicas int32) *members {
	t.Helper()
	ns, err := w.Host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "uninstall-"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	return &members{Members: w.Settle(t, ns.Name, "db", replicas), w: w}
}

func (m *members) mustBeTheSame(t *testing.T, when string) {
	t.Helper()
	if now, err := m.Present(t.Context()); err != nil || !maps.Equal(now, m.UIDs) {
		t.Fatalf("%s: got members %v, %v, want %v: one was lost", when, now, err, m.UIDs)
	}
}

// mustStayUnderCollection waits until the garbage collector has taken an object that belongs
// to nobody: by then it has looked at the members, too.
func (m *members) mustStayUnderCollection(t *testing.T, when string) {
	t.Helper()
	m.w.AwaitCollector(t, m.Namespace)
	m.mustBeTheSame(t, when)
}

// mustGoPromptly deletes the namespace of the members and waits until it is gone.
func (m *members) mustGoPromptly(t *testing.T) {
	t.Helper()
	begun := time.Now()
	if err := m.w.Host.CoreV1().Namespaces().Delete(t.Context(), m.Namespace, metav1.DeleteOptions{}); err != nil &&
		!apierrors.IsNotFound(err) {
		t.Fatalf("deleting namespace %s: %v", m.Namespace, err)
	}
	m.awaitGone(t)
	t.Logf("namespace %s was gone after %s", m.Namespace, time.Since(begun).Round(100*time.Millisecond))
}

func (m *members) awaitGone(t *testing.T) {
	t.Helper()
	harness.EventuallyWithin(t, prompt, "namespace "+m.Namespace+" is gone", func(ctx context.Context) error {
		ns, err := m.w.Host.CoreV1().Namespaces().Get(ctx, m.Namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("get: %w, %+v", err, ns.Status)
	})
}
