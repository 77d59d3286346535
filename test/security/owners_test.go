//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"crypto/tls"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

func serverTLS(t *testing.T, ca authority) *tls.Config {
	t.Helper()
	return &tls.Config{
		Certificates: []tls.Certificate{ca.issue(t, leaf{name: "test", hosts: []string{"127.0.0.1"}}).tls(t)}, MinVersion: tls.VersionTLS12}
}

func controllerOf(set *v1.StatefulSet) []metav1.OwnerReference {
	owner := metav1.NewControllerRef(set, v1.SchemeGroupVersion.WithKind(v1.Kind))
	owner.BlockOwnerDeletion = nil // the host asks for a right of the owner's before one may block
	return []metav1.OwnerReference{*owner}
}

// TestForgedOwnersAreNoMembers lets a user who may create pods, and nothing else, name a
// set of somebody else as their owner.
func TestForgedOwnersAreNoMembers(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns, far := w.Namespace(t, "security"), w.Namespace(t, "security")
	set := w.create(t, ns, harness.NewSet("owner", 2))
	w.awaitReady(t, ns, "owner", 2)
	members := w.pods(t, ns)
	for _, at := range []string{ns, far} {
		w.bind(t, at, "edit", "forger")
	}
	forger := hostAs(t, w.as("forger"))
	matching, otherUID := map[string]string{"app": "owner"}, set.DeepCopy()
	otherUID.UID = "11111111-2222-3333-4444-555555555555"
	forge := func(at, name string, labels map[string]string, owners []metav1.OwnerReference) {
		t.Helper()
		pod := podOf(name)
		pod.Labels, pod.OwnerReferences = labels, owners
		if _, err := forger.CoreV1().Pods(at).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatalf("forging pod %s: %v", name, err)
		}
	}
	forge(ns, "unlabelled", map[string]string{"mine": "yes"}, controllerOf(set))
	forge(ns, "labelled", matching, controllerOf(set))
	forge(ns, "owner-x", matching, controllerOf(set))
	// As if it were the eighth member: it is removed as one too many, as with apps/v1.
	forge(ns, "owner-7", map[string]string{
		"app": "owner", "statefulset.kubernetes.io/pod-name": "owner-7", "apps.kubernetes.io/pod-index": "7"}, controllerOf(set))
	forge(ns, "uid", matching, controllerOf(otherUID))
	forge(far, "owner-0", matching, controllerOf(set))

	harness.Eventually(t, "the pod that says that it is a member too many is gone", func(ctx context.Context) error {
		if _, err := w.Host.CoreV1().Pods(ns).Get(ctx, "owner-7", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %v, want not found", err) //nolint:errorlint // it may be nil
		}
		return nil
	})
	// The garbage collector removes a pod whose owner does not exist as it is named: of
	// another UID, or in another namespace. The forger loses what the forger made.
	for at, name := range map[string]string{ns: "uid", far: "owner-0"} {
		harness.Eventually(t, "the pod with an owner that does not exist is gone", func(ctx context.Context) error {
			if _, err := w.Host.CoreV1().Pods(at).Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s: got %v, want not found", name, err) //nolint:errorlint // it may be nil
			}
			return nil
		})
	}
	w.create(t, ns, harness.NewSet("after", 1)) // a set that was made later is served all the same
	w.awaitReady(t, ns, "after", 1)
	w.awaitReady(t, ns, "owner", 2)
	after := w.pods(t, ns)
	for name, uid := range members {
		if after[name] != uid {
			t.Errorf("member %s: got UID %q, want %q, untouched", name, after[name], uid)
		}
	}
	pod, err := w.Host.CoreV1().Pods(ns).Get(t.Context(), "unlabelled", metav1.GetOptions{})
	if err != nil {
		t.Errorf("the forger's pod without the set's labels: got %v, want that it lives", err)
	}
	t.Logf("the forger's pod without the set's labels has owners %v; %d pods are left", pod.OwnerReferences, len(after))
}

func (w *world) claimSpec() corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

func (w *world) withClaims(name string, replicas int32) *v1.StatefulSet {
	set := harness.NewSet(name, replicas)
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: w.claimSpec()}}
	set.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: v1.DeletePersistentVolumeClaimRetentionPolicyType, WhenScaled: v1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	return set
}

// TestAClaimOfAnotherIsNeverTakenAway makes claims of a member's name before the set is
// there: one that somebody controls, and one of another set.
func TestAClaimOfAnotherIsNeverTakenAway(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	claims := w.Host.CoreV1().PersistentVolumeClaims(ns)
	keeper, err := w.Host.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "keeper"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating an owner: %v", err)
	}
	foreign := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-db-0",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(keeper, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}},
		Spec: w.claimSpec(),
	}
	if foreign, err = claims.Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a claim: %v", err)
	}
	w.create(t, ns, w.withClaims("db", 1))
	harness.Eventually(t, "a warning says that the claim is another's", func(ctx context.Context) error {
		list, err := w.Host.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "type=Warning"})
		if err != nil {
			return err
		}
		for _, event := range list.Items {
			if event.InvolvedObject.Kind == v1.Kind || event.InvolvedObject.Name == "data-db-0" {
				t.Logf("event %s: %s", event.Reason, event.Message)
				return nil
			}
		}
		return fmt.Errorf("got %d warnings, none about the set", len(list.Items))
	})
	if err := w.Sets.AppsV1().StatefulSets(ns).Delete(t.Context(), "db",
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatalf("deleting the set: %v", err)
	}
	harness.Eventually(t, "the set is gone", func(ctx context.Context) error {
		if _, err := w.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %v, want not found", err) //nolint:errorlint // it may be nil
		}
		return nil
	})
	got, err := claims.Get(t.Context(), "data-db-0", metav1.GetOptions{})
	if err != nil || got.UID != foreign.UID || got.DeletionTimestamp != nil || len(got.OwnerReferences) != 1 ||
		got.OwnerReferences[0].UID != keeper.UID {
		t.Errorf("the claim of another, after a set that deletes its claims came and went: got %+v, %v, want it as it was", got.ObjectMeta, err)
	}

	// Names of sets and templates that join to the same name: the second set waits.
	w.create(t, ns, w.rival("b", "a-b"))
	w.awaitReady(t, ns, "b", 1)
	w.create(t, ns, w.rival("b-b", "a"))
	harness.Eventually(t, "the second set says whose the claim is", func(ctx context.Context) error {
		set, err := w.Sets.AppsV1().StatefulSets(ns).Get(ctx, "b-b", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range set.Status.Conditions {
			if condition.Type == v1.StatefulSetReady && condition.Status == corev1.ConditionFalse && condition.Message != "" {
				t.Logf("the second set: %s: %s", condition.Reason, condition.Message)
				return nil
			}
		}
		return fmt.Errorf("got conditions %+v", set.Status.Conditions)
	})
	if pods := w.pods(t, ns); pods["b-b-0"] != "" {
		t.Errorf("pods: got %v, want none of the set whose claim is another's", pods)
	}
}

// rival is a set of one member whose claim is named after a template and the set.
func (w *world) rival(name, template string) *v1.StatefulSet {
	set := w.withClaims(name, 1)
	set.Spec.VolumeClaimTemplates[0].Name, set.Spec.Template.Spec.Containers[0].VolumeMounts[0].Name = template, template
	return set
}
