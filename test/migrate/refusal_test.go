//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// expectRefusal wants the command to fail with words, and to have changed nothing.
func expectRefusal(t *testing.T, r run, words string, args ...string) {
	t.Helper()
	before := look(t, r.namespace)
	out, err := r.migrate(t, args...)
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("kubectl sts migrate %s: got %v, want an error with %q\n%s", strings.Join(args, " "), err, words, out)
	}
	expectSame(t, "after the refusal", before, look(t, r.namespace))
}

func TestASetIsNotMoved(t *testing.T) {
	t.Run("that does not exist", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		expectRefusal(t, r, "no such set exists", "web")
		expectRefusal(t, r, "no such set exists", "web", "--back")
		expectRefusal(t, r, "no such set exists", "web", "--undo")
		expectRefusal(t, r, "selects no set to move", "-l", "app=web")
	})
	t.Run("with flags that exclude each other", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		expectRefusal(t, r, "cannot be combined", "web", "-l", "app=web")
		expectRefusal(t, r, "cannot be combined", "web", "--back", "--undo")
		expectRefusal(t, r, "name the sets to move")
		expectRefusal(t, r, "--timeout must be more than zero", "web", "--timeout=0s")
	})
	t.Run("whose name is taken on the other side", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		create(t, r.namespace, web(1))
		waitReady(t, r.namespace, 1, 1)
		ours := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
		ours.Spec.Selector, ours.Spec.Template, ours.Spec.Replicas = web(0).Spec.Selector, web(0).Spec.Template, new(int32(0))
		ours.Spec.Template.Spec.Containers[0].VolumeMounts = nil
		if _, err := suite.Sets.AppsV1().StatefulSets(r.namespace).Create(t.Context(), ours, metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating our set: %v", err)
		}
		expectRefusal(t, r, "a set of this name also exists", "web")
		expectRefusal(t, r, "a set of this name also exists", "web", "--back")
	})
	t.Run("that another object controls", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		owner, err := suite.Host.CoreV1().ConfigMaps(r.namespace).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "operator"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating an owner: %v", err)
		}
		set := web(1)
		set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
		create(t, r.namespace, set)
		waitReady(t, r.namespace, 1, 1)
		expectRefusal(t, r, "the set is controlled by v1 ConfigMap operator", "web")
	})
	t.Run("that has a finalizer", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		set := web(0)
		set.Finalizers = []string{"example.test/stay"}
		create(t, r.namespace, set)
		waitReady(t, r.namespace, 0, 0)
		expectRefusal(t, r, "example.test/stay", "web")
		if err := suite.Host.AppsV1().StatefulSets(r.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting the set: %v", err)
		}
		expectRefusal(t, r, "the apps/v1 set is being deleted", "web")
		patch(t, r.namespace, `{"metadata":{"finalizers":null}}`)
	})
	t.Run("that Helm has deployed, unless the user insists", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		set := web(1)
		set.Annotations["meta.helm.sh/release-name"] = "shop"
		create(t, r.namespace, set)
		waitReady(t, r.namespace, 1, 1)
		expectRefusal(t, r, `Helm (release "shop")`, "web")
		migrate(t, r.namespace, "web", "--allow-managed")
	})
	t.Run("back when somebody else holds it", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		create(t, r.namespace, web(1))
		waitReady(t, r.namespace, 1, 1)
		migrate(t, r.namespace, "web")
		patchOurs(t, r.namespace, `{"metadata":{"annotations":{"apps.statefulset.dev/hold":"maintenance"}}}`)
		expectRefusal(t, r, "maintenance", "web", "--back")
		expectRefusal(t, r, "nothing to undo", "web", "--undo")
	})
	t.Run("back with a field that apps/v1 does not have, unless the user gives it up", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		create(t, r.namespace, web(1))
		waitReady(t, r.namespace, 1, 1)
		migrate(t, r.namespace, "web")
		patchOurs(t, r.namespace, `{"spec":{"progressDeadlineSeconds":60}}`)
		expectRefusal(t, r, "apps/v1 does not have these fields of the set: spec.progressDeadlineSeconds", "web", "--back")
		migrate(t, r.namespace, "web", "--back", "--drop-extra-fields")
	})
	t.Run("back when it is protected, until that ends", func(t *testing.T) {
		t.Parallel()
		r := run{namespace: namespace(t)}
		set := web(1)
		set.Annotations[v1.ProtectAnnotation] = "prod"
		create(t, r.namespace, set)
		waitReady(t, r.namespace, 1, 1)
		migrate(t, r.namespace, "web")
		expectRefusal(t, r, `set `+r.namespace+`/web is protected ("prod"): remove annotation apps.statefulset.dev/protect first`, "web",
			"--back")
		patchOurs(t, r.namespace, `{"metadata":{"annotations":{"apps.statefulset.dev/protect":null}}}`)
		migrate(t, r.namespace, "web", "--back")
	})
}

func TestAutoscalersArePointedOut(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, web(1))
	waitReady(t, ns, 1, 1)
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "scaler"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			MaxReplicas: 3,
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: "web"},
		},
	}
	if _, err := suite.Host.AutoscalingV2().HorizontalPodAutoscalers(ns).Create(t.Context(), scaler, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating an autoscaler: %v", err)
	}
	for _, args := range [][]string{{"web", "--dry-run"}, {"web"}} {
		if out := migrate(t, ns, args...); !strings.Contains(out, "kubectl patch hpa scaler") {
			t.Errorf("kubectl sts migrate %s printed\n%s\nwant it to say how to change the autoscaler", strings.Join(args, " "), out)
		}
	}
}
