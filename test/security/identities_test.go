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

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"statefulset.dev/test/harness"
)

func (w *world) kubectl(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.Path("kubectl"), append([]string{"--kubeconfig", w.Path("kubeconfig")}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// setsOnly may do everything with sets and nothing with pods.
func (w *world) setsOnly(t *testing.T) string {
	t.Helper()
	return w.role(t, rbacv1.PolicyRule{APIGroups: []string{"apps", "apps.statefulset.dev"}, Resources: []string{"statefulsets"},
		Verbs: []string{"get", "list", "create", "update", "patch", "delete"}})
}

// TestWhoMayCreateSetsGetsPods shows that a right to create sets is one to run pods, as
// with apps/v1, and that the sample policy ends that.
func TestWhoMayCreateSetsGetsPods(t *testing.T) {
	w := shared(t)
	ns := w.Namespace(t, "security")
	w.bind(t, ns, w.setsOnly(t), "setter")
	w.bind(t, ns, "edit", "editor")
	if _, err := hostAs(t, w.as("setter")).CoreV1().Pods(ns).Create(t.Context(), podOf("own"),
		metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("creating a pod as one who may only create sets: got %v, want forbidden", err)
	}
	setter, editor := setsAs(t, w.as("setter")).AppsV1().StatefulSets(ns), setsAs(t, w.as("editor")).AppsV1().StatefulSets(ns)
	if _, err := setter.Create(t.Context(), harness.NewSet("parity", 1), metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set as one who may only create sets: %v", err)
	}
	w.awaitReady(t, ns, "parity", 1)

	const policy = "../../artifacts/policies/sets-need-pods.yaml"
	w.kubectl(t, "apply", "-f", policy)
	t.Cleanup(func() {
		_ = exec.CommandContext(context.Background(), w.Path("kubectl"), "--kubeconfig", w.Path("kubeconfig"), "delete", "-f", policy).Run()
	})
	const says = "may not create pods"
	harness.Eventually(t, "the sample policy refuses sets of one who may not create pods", func(ctx context.Context) error {
		_, err := setter.Create(ctx, harness.NewSet("refused", 1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), says) {
			return fmt.Errorf("got %v, want a refusal with %q", err, says) //nolint:errorlint // it may be nil
		}
		return nil
	})
	set, err := setter.Get(t.Context(), "parity", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting a set: %v", err)
	}
	set.Spec.Template.Spec.Containers[0].Image = "example.com/other:1"
	if _, err := setter.Update(t.Context(), set, metav1.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("changing the template under the policy: got %v, want a refusal with %q", err, says)
	}
	if _, err := editor.Create(t.Context(), harness.NewSet("edited", 1), metav1.CreateOptions{}); err != nil {
		t.Errorf("creating a set as one who may create pods: got %v, want that it is allowed", err)
	}
	w.awaitReady(t, ns, "edited", 1)
}

func podOf(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}}}
}

// TestPodSecurityHoldsForMembers makes a set of privileged pods where those are not
// allowed.
func TestPodSecurityHoldsForMembers(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.LabeledNamespace(t, "security", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	set := harness.NewSet("privileged", 1)
	set.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	w.create(t, ns, set)
	harness.Eventually(t, "an event says why there is no pod", func(ctx context.Context) error {
		list, err := w.Host.CoreV1().Events(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, event := range list.Items {
			if event.Reason == "FailedCreate" && strings.Contains(event.Message, `violates PodSecurity "restricted`) {
				return nil
			}
		}
		return fmt.Errorf("got %d events, want FailedCreate of PodSecurity", len(list.Items))
	})
	if pods := w.pods(t, ns); len(pods) > 0 {
		t.Errorf("pods: got %v, want none", pods)
	}
}

// TestDryRunsHaveAnIdentityOfTheirOwn reads in the host's audit log as whom our server
// tries templates, and lets that identity try to create for real.
func TestDryRunsHaveAnIdentityOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	w.create(t, ns, harness.NewSet("tried", 0))
	var tried []auditv1.Event
	harness.Eventually(t, "the host's audit log has the dry run", func(context.Context) error {
		tried = events(t, w.hostAudit(), func(e *auditv1.Event) bool {
			return e.User.Username == serverName && e.ObjectRef != nil && e.ObjectRef.Namespace == ns && strings.Contains(e.RequestURI, "dryRun=All")
		})
		if len(tried) == 0 {
			return fmt.Errorf("got none")
		}
		return nil
	})
	for _, event := range tried {
		if event.ImpersonatedUser == nil || event.ImpersonatedUser.Username != tryingName {
			t.Errorf("dry run %s: got identity %+v, want %s", event.RequestURI, event.ImpersonatedUser, tryingName)
		}
		if event.ResponseStatus == nil || event.ResponseStatus.Code >= 400 {
			t.Errorf("dry run %s: got %+v, want success", event.RequestURI, event.ResponseStatus)
		}
	}
	trying := hostAs(t, w.as(tryingName, "system:serviceaccounts", "system:serviceaccounts:"+system))
	for name, create := range map[string]func() error{
		"a pod": func() error {
			_, err := trying.CoreV1().Pods(ns).Create(t.Context(), podOf("real"), metav1.CreateOptions{})
			return err
		},
		"a claim": func() error {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "real"}, Spec: w.claimSpec()}
			_, err := trying.CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), claim, metav1.CreateOptions{})
			return err
		},
		"a pod template": func() error {
			template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: "real"}, Template: harness.NewSet("real", 0).Spec.Template}
			_, err := trying.CoreV1().PodTemplates(ns).Create(t.Context(), template, metav1.CreateOptions{})
			return err
		},
	} {
		if err := create(); err == nil || !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
			t.Errorf("creating %s for real as %s: got %v, want a refusal", name, tryingName, err)
		}
	}
}
