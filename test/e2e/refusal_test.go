//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestRefusals checks that what a user cannot have is refused in the words that
// the host uses for its own kinds.
func TestRefusals(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	limit(t, ns, "count/"+kind, "1")
	kubectlApply(t, manifestOf("first"), "-n", ns)
	terminating := terminatingNamespace(t)
	for name, c := range map[string]struct {
		manifest string
		args     []string
		want     []string
	}{
		"a namespace that does not exist": {manifestOf("db"), []string{"-n", "nowhere"}, []string{`namespaces "nowhere" not found`}},
		"a namespace that is being deleted": {
			manifestOf("db"), []string{"-n", terminating}, []string{"is forbidden", "because it is being terminated"}},
		"a quota that is used up": {manifestOf("second"), []string{"-n", ns}, []string{"exceeded quota: limit", "count/" + kind + "=1"}},
		"a field that does not exist": {strings.Replace(manifestOf("first"), "serviceName", "servieName", 1), []string{"-n", ns},
			[]string{`strict decoding error: unknown field "spec.servieName"`}},
		"a selector that does not match": {
			strings.Replace(manifestOf("first"), "matchLabels: {app: x}", "matchLabels: {app: other}", 1), []string{"-n", ns},
			[]string{"spec.selector", "field is immutable"}},
		"a negative number of replicas": {strings.Replace(manifestOf("first"), "replicas: 0", "replicas: -1", 1), []string{"-n", ns},
			[]string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
		"a policy that does not exist": {
			strings.Replace(manifestOf("first"), "replicas: 0", "podManagementPolicy: Chaotic", 1), []string{"-n", ns},
			[]string{"spec.podManagementPolicy", "Chaotic", "OrderedReady", "Parallel"}},
	} {
		stdout, stderr, err := suite.Kubectl(t.Context(), c.manifest, append([]string{"apply", "-f", "-"}, c.args...)...)
		if err == nil {
			t.Errorf("%s was accepted: %s", name, stdout)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s was refused with\n%s\nwant it to contain %q", name, stderr, want)
			}
		}
	}
}

func manifestOf(name string) string {
	return fmt.Sprintf(`
apiVersion: apps.statefulset.dev/v1
kind: StatefulSet
metadata: {name: %s}
spec:
  replicas: 0
  serviceName: x
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: main, image: example.test/main:1}]}
`, name)
}

// limit gives a namespace a quota, and waits until it is in force.
func limit(t *testing.T, ns, what, amount string) {
	t.Helper()
	hard := corev1.ResourceList{corev1.ResourceName(what): resource.MustParse(amount)}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "limit"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if _, err := suite.Host.CoreV1().ResourceQuotas(ns).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a quota: %v", err)
	}
	harness.Eventually(t, "the quota is in force", func(ctx context.Context) error {
		got, err := suite.Host.CoreV1().ResourceQuotas(ns).Get(ctx, "limit", metav1.GetOptions{})
		if err == nil && len(got.Status.Used) == 0 {
			err = fmt.Errorf("its status is %+v", got.Status)
		}
		return err
	})
}

// terminatingNamespace is a namespace that is being deleted and does not go,
// because something in it has a finalizer, until the test has ended.
func terminatingNamespace(t *testing.T) string {
	t.Helper()
	ns := namespace(t)
	keeper := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "keeper", Finalizers: []string{"example.test/keep"}}}
	if _, err := suite.Host.CoreV1().ConfigMaps(ns).Create(t.Context(), keeper, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a config map: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
		defer cancel()
		keeper.Finalizers = nil
		_, _ = suite.Host.CoreV1().ConfigMaps(ns).Update(ctx, keeper, metav1.UpdateOptions{})
	})
	if err := suite.Host.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting namespace %s: %v", ns, err)
	}
	return ns
}

// TestRefusedByTheHost checks that a member which the host does not allow is
// reported where a user looks, and comes as soon as it is allowed.
func TestRefusedByTheHost(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	limit(t, ns, "pods", "1")
	create(t, ns, newSet("db", 2))
	harness.Eventually(t, "the set says that its second pod was refused", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, kind := range []v1.StatefulSetConditionType{v1.StatefulSetStalled, v1.StatefulSetReady} {
			c := conditionOf(set, kind)
			if c == nil || !strings.Contains(c.Message, "db-1") || !strings.Contains(c.Message, "exceeded quota") {
				return fmt.Errorf("condition %s is %+v", kind, c)
			}
		}
		return nil
	})
	harness.Eventually(t, "an event says so too", func(context.Context) error {
		got := kubectl(t, "events", "--for", kind+"/db", "-n", ns)
		if !strings.Contains(got, "FailedCreate") || !strings.Contains(got, "exceeded quota") {
			return fmt.Errorf("kubectl events printed %q", got)
		}
		return nil
	})
	if err := suite.Host.CoreV1().ResourceQuotas(ns).Delete(t.Context(), "limit", metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the quota: %v", err)
	}
	set := waitReady(t, ns, "db", 2)
	if c := conditionOf(set, v1.StatefulSetStalled); c == nil || c.Status != corev1.ConditionFalse {
		t.Errorf("condition Stalled of the finished set is %+v, want False", c)
	}
}

// TestASetAtItsQuotaGoesOnWhenThereIsRoom raises a quota that has refused members for a
// while, when the controller asks seldom by itself.
func TestASetAtItsQuotaGoesOnWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	const allowed, more, asked = 5, 10, 40
	ns := namespace(t)
	limit(t, ns, "pods", strconv.Itoa(allowed))
	set := newSet("db", asked)
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	create(t, ns, set)
	pods := func(ctx context.Context, want int) error {
		list, err := suite.Host.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) != want {
			err = fmt.Errorf("there are %d pods, want %d", len(list.Items), want)
		}
		return err
	}
	harness.Eventually(t, "the set has been at its quota for 20 seconds", func(ctx context.Context) error {
		if err := pods(ctx, allowed); err != nil {
			return err
		}
		got, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if c := conditionOf(got, v1.StatefulSetStalled); c == nil || c.Status != corev1.ConditionTrue ||
			time.Since(c.LastTransitionTime.Time) < 20*time.Second {
			return fmt.Errorf("condition Stalled is %+v", c)
		}
		return nil
	})
	patch := fmt.Appendf(nil, `{"spec":{"hard":{"pods":"%d"}}}`, allowed+more)
	if _, err := suite.Host.CoreV1().ResourceQuotas(ns).Patch(t.Context(), "limit", types.MergePatchType, patch,
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("raising the quota: %v", err)
	}
	harness.Eventually(t, "the quota's controller has seen it", func(ctx context.Context) error {
		got, err := suite.Host.CoreV1().ResourceQuotas(ns).Get(ctx, "limit", metav1.GetOptions{})
		if hard := got.Status.Hard[corev1.ResourcePods]; err == nil && hard.Value() != allowed+more {
			err = fmt.Errorf("its status says %s pods", hard.String())
		}
		return err
	})
	room := time.Now()
	harness.Eventually(t, "there are as many pods as the quota allows", func(ctx context.Context) error { return pods(ctx, allowed+more) })
	took := time.Since(room)
	t.Logf("%d more pods %s after there was room", more, took)
	// By itself it would ask again 16 seconds after the last time, or later.
	if took > 10*time.Second {
		t.Errorf("got %d more pods %s after there was room, want them within 5s on an idle machine, 10s here", more, took)
	}
}
