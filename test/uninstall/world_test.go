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

	v1 "statefulset.dev/api/apps/v1"
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
	w.kubectl(t, "apply", "--filename="+filepath.Join(artifacts, "base", "storage.yaml"), "--filename="+filepath.Join(artifacts, "base", "deployment.yaml"),
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
	w         *world
	namespace string
	uids      map[string]string
}

// settle creates a namespace with a set whose claims, too, go with it.
func (w *world) settle(t *testing.T, replicas int32) *members {
	t.Helper()
	ns, err := w.Host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "uninstall-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	m := &members{w: w, namespace: ns.Name}
	if _, err := w.Sets.AppsV1().StatefulSets(ns.Name).Create(t.Context(), newSet(replicas), metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set: %v", err)
	}
	harness.Eventually(t, "the set is ready and its claims belong to it", func(ctx context.Context) error {
		set, err := w.Sets.AppsV1().StatefulSets(ns.Name).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		claims, err := w.Host.CoreV1().PersistentVolumeClaims(ns.Name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range claims.Items {
			if len(claims.Items[i].OwnerReferences) != 1 {
				return fmt.Errorf("claim %s has owners %v", claims.Items[i].Name, claims.Items[i].OwnerReferences)
			}
		}
		if set.Status.ReadyReplicas != replicas || len(claims.Items) != int(replicas) {
			return fmt.Errorf("status %+v, %d claims", set.Status, len(claims.Items))
		}
		return nil
	})
	if m.uids, err = m.present(t.Context()); err != nil || len(m.uids) != int(2*replicas) {
		t.Fatalf("members: got %v, %v, want %d pods and as many claims", m.uids, err, replicas)
	}
	return m
}

func newSet(replicas int32) *v1.StatefulSet {
	set := harness.WithClaim(harness.NewSet("db", replicas))
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: v1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	return set
}

// present are the UIDs of the pods and claims that are there and stay.
func (m *members) present(ctx context.Context) (map[string]string, error) {
	uids := map[string]string{}
	pods, err := m.w.Host.CoreV1().Pods(m.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			uids["pod "+pods.Items[i].Name] = string(pods.Items[i].UID)
		}
	}
	claims, err := m.w.Host.CoreV1().PersistentVolumeClaims(m.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range claims.Items {
		if claims.Items[i].DeletionTimestamp == nil {
			uids["claim "+claims.Items[i].Name] = string(claims.Items[i].UID)
		}
	}
	return uids, nil
}

func (m *members) mustBeTheSame(t *testing.T, when string) {
	t.Helper()
	if now, err := m.present(t.Context()); err != nil || !maps.Equal(now, m.uids) {
		t.Fatalf("%s: got members %v, %v, want %v: one was lost", when, now, err, m.uids)
	}
}

// mustStayUnderCollection waits until the garbage collector has taken an object that belongs
// to nobody: by then it has looked at the members, too.
func (m *members) mustStayUnderCollection(t *testing.T, when string) {
	t.Helper()
	maps := m.w.Host.CoreV1().ConfigMaps(m.namespace)
	bait, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "bait-", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "nobody", UID: "0"}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating an object of nobody's: %v", err)
	}
	harness.Eventually(t, "the garbage collector is at work", func(ctx context.Context) error {
		if _, err := maps.Get(ctx, bait.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("get: %w", err)
		}
		return nil
	})
	m.mustBeTheSame(t, when)
}

// mustGoPromptly deletes the namespace of the members and waits until it is gone.
func (m *members) mustGoPromptly(t *testing.T) {
	t.Helper()
	begun := time.Now()
	if err := m.w.Host.CoreV1().Namespaces().Delete(t.Context(), m.namespace, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatalf("deleting namespace %s: %v", m.namespace, err)
	}
	m.awaitGone(t)
	t.Logf("namespace %s was gone after %s", m.namespace, time.Since(begun).Round(100*time.Millisecond))
}

func (m *members) awaitGone(t *testing.T) {
	t.Helper()
	harness.EventuallyWithin(t, prompt, "namespace "+m.namespace+" is gone", func(ctx context.Context) error {
		ns, err := m.w.Host.CoreV1().Namespaces().Get(ctx, m.namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("get: %w, %+v", err, ns.Status)
	})
}
