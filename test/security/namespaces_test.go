//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// objectsRole is the role of the controller for the kinds of supporting objects, and the name of what binds it.
const objectsRole = "statefulset-controller-objects"

// bindObjectsIn replaces the binding of the controller's rights to objects in all namespaces by one in a single namespace,
// as the chart does with objectNamespaces.
func (w *world) bindObjectsIn(t *testing.T, ns string) {
	t.Helper()
	everywhere, err := w.Host.RbacV1().ClusterRoleBindings().Get(t.Context(), objectsRole, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading the binding of the manifests: %v", err)
	}
	w.kubectl(t, "annotate", "clusterrolebinding", objectsRole, allowDelete+"=yes")
	w.kubectl(t, "delete", "clusterrolebinding", objectsRole)
	t.Cleanup(func() {
		again := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: objectsRole, Labels: everywhere.Labels, Annotations: everywhere.Annotations},
			RoleRef:    everywhere.RoleRef, Subjects: everywhere.Subjects,
		}
		if _, err := w.Host.RbacV1().ClusterRoleBindings().Create(context.Background(), again, metav1.CreateOptions{}); err != nil {
			t.Errorf("creating the binding of the manifests again: %v", err)
		}
	})
	inside := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: objectsRole}, RoleRef: everywhere.RoleRef, Subjects: everywhere.Subjects}
	if _, err := w.Host.RbacV1().RoleBindings(ns).Create(t.Context(), inside, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding the role in namespace %s: %v", ns, err)
	}
}

// TestTheServerReadsSecretsOfListedNamespacesOnly grants Secrets to the controller, and uses the server's credentials as
// somebody would who has stolen them.
func TestTheServerReadsSecretsOfListedNamespacesOnly(t *testing.T) {
	w := shared(t)
	w.lacks(t)
	inside, outside := w.Namespace(t, "security"), w.Namespace(t, "security")
	w.kubectl(t, "apply", "-k", "../../artifacts/objects/secrets")
	t.Cleanup(func() {
		_ = exec.CommandContext(context.Background(), w.Path("kubectl"), "--kubeconfig", w.Path("kubeconfig"), "delete", "-k",
			"../../artifacts/objects/secrets").Run()
	})
	for _, ns := range []string{inside, outside} {
		if _, err := w.Host.CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}},
			metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating a Secret: %v", err)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", w.program.Args.Get("kubeconfig"))
	if err != nil {
		t.Fatalf("reading the server's kubeconfig: %v", err)
	}
	stolen := hostAs(t, config).CoreV1()
	harness.Eventually(t, "without the limit, a grant of Secrets is one for all namespaces", func(ctx context.Context) error {
		_, err := stolen.Secrets(outside).Get(ctx, "password", metav1.GetOptions{})
		return err
	})

	w.bindObjectsIn(t, inside)
	w.process.Stop(t, time.Minute)
	limited := w.program
	limited.Args = limited.Args.With("object-namespaces", inside)
	w.process = w.Start(lasting{t}, limited)
	t.Cleanup(func() {
		w.process.Stop(lasting{t}, time.Minute)
		w.process = w.Start(lasting{t}, w.program)
	})
	harness.Eventually(t, "the host has noticed that the binding is deleted", func(ctx context.Context) error {
		if _, err := stolen.Secrets(outside).Get(ctx, "password", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
			return fmt.Errorf("reading a Secret of another namespace: got %v, want forbidden", err) //nolint:errorlint // it may be nil
		}
		return nil
	})
	for _, ns := range []string{outside, metav1.NamespaceSystem, metav1.NamespaceAll} {
		if _, err := stolen.Secrets(ns).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("listing the Secrets of namespace %q with the server's credentials: got %v, want forbidden", ns, err)
		}
	}

	describing := func() *v1.StatefulSet {
		set := describing("db", "v1", "Secret")
		set.Spec.Replicas = new(int32(1))
		return set
	}
	w.create(t, inside, describing())
	w.awaitReady(t, inside, "db", 1)
	made, err := stolen.Secrets(inside).List(t.Context(), metav1.ListOptions{LabelSelector: v1.ObjectSetLabel + "=db"})
	if err != nil || len(made.Items) != 1 {
		t.Errorf("the Secrets of a set in the listed namespace: got %d, %v, want 1", len(made.Items), err)
	}
	want := fmt.Sprintf(
		"spec.objectTemplates: Forbidden: this server creates, watches and deletes supporting objects only in the namespaces that its flag "+
			"--object-namespaces lists (%s), and %q is not one of them", inside, outside)
	if _, err := w.Sets.AppsV1().StatefulSets(outside).Create(t.Context(), describing(),
		metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("a set with a Secret outside: got %v, want it refused with %q", err, want)
	}
	w.create(t, outside, harness.NewSet("plain", 1))
	w.awaitReady(t, outside, "plain", 1)
	w.deleteSet(t, inside, "db")
}

// deleteSet deletes a set, and waits until the server does not watch for it any more.
func (w *world) deleteSet(t *testing.T, ns, name string) {
	t.Helper()
	sets := w.Sets.AppsV1().StatefulSets(ns)
	if err := sets.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting set %s: %v", name, err)
	}
	harness.Eventually(t, "set "+name+" is gone", func(ctx context.Context) error {
		if _, err := sets.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("reading it: got %v, want not found", err) //nolint:errorlint // it may be nil
		}
		return nil
	})
}
