//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"os/exec"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestAPolicyOnSetsLimitsWhatTheyCreate applies the sample policy, and describes objects as one who
// may create them without a set.
func TestAPolicyOnSetsLimitsWhatTheyCreate(t *testing.T) {
	w := shared(t)
	ns := w.Namespace(t, "security")
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"services", "limitranges"}, Verbs: []string{"get", "list", "watch", "create", "patch"}}}
	ofController, err := w.Host.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "security-", Labels: map[string]string{"apps.statefulset.dev/aggregate-to-controller": "true"}}, Rules: rules,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a role: %v", err)
	}
	t.Cleanup(func() {
		_ = w.Host.RbacV1().ClusterRoles().Delete(context.Background(), ofController.Name, metav1.DeleteOptions{})
	})
	setsOnly, objects := w.setsOnly(t), w.role(t, rules...)
	exposing := w.role(t,
		rbacv1.PolicyRule{APIGroups: []string{"apps.statefulset.dev"}, Resources: []string{"exposedservices"}, Verbs: []string{"create"}})
	for _, user := range []string{"policy-author", "policy-exposer"} {
		w.bind(t, ns, setsOnly, user)
		w.bind(t, ns, objects, user)
	}
	w.bind(t, ns, exposing, "policy-exposer")
	author, exposer := setsAs(t, w.as("policy-author")).AppsV1().StatefulSets(ns), setsAs(t, w.as("policy-exposer")).AppsV1().StatefulSets(ns)

	exposed := withObject("exposed",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-out"},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`)
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	harness.Eventually(t, "a LoadBalancer is accepted without the policy", func(ctx context.Context) error {
		_, err := author.Create(ctx, exposed, dry)
		return err
	})
	older := exposed.DeepCopy()
	older.Name = "older"
	if _, err := author.Create(t.Context(), older, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set before the policy: %v", err)
	}
	const policy = "../../artifacts/policies/what-sets-create.yaml"
	w.kubectl(t, "apply", "-f", policy)
	t.Cleanup(func() {
		_ = exec.CommandContext(context.Background(), w.Path("kubectl"), "--kubeconfig", w.Path("kubeconfig"), "delete", "-f", policy).Run()
	})

	transformed := withObject("transformed",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-out"},"spec":{"ports":[{"port":80}]}}`)
	transformed.Spec.ObjectTemplates[0].Transforms = []v1.Transform{{Path: "/spec/type", Expression: "'LoadBalancer'"}}
	computed := withObject("computed",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-out"},"spec":{"type":"$(TYPE)","ports":[{"port":80}]}}`)
	computed.Spec.Identity.Values = map[string]string{"TYPE": "LoadBalancer"}
	const outside = "that are reached from outside"
	for sentence, c := range map[string]struct {
		set  *v1.StatefulSet
		says string
	}{
		"a LoadBalancer": {exposed, outside},
		"a NodePort": {withObject("port",
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-out"},"spec":{"type":"NodePort","ports":[{"port":80}]}}`), outside},
		"addresses of others": {withObject("ips",
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-out"},"spec":{"externalIPs":["192.0.2.1"],"ports":[{"port":80}]}}`),
			outside},
		"a type that a parameter gives": {computed, outside},
		"a type that a transform gives": {transformed, "with transforms of other fields"},
		"a kind that is not listed": {withObject("kind", `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"$(IDENTITY)-limits"}}`),
			"kinds ConfigMap, Secret, Service and Job only"},
	} {
		refused(t, sentence, c.says, func(ctx context.Context) error {
			_, err := author.Create(ctx, c.set, dry)
			return err
		})
	}
	if _, err := exposer.Create(t.Context(), exposed, dry); err != nil {
		t.Errorf("a LoadBalancer of one who may expose Services: got %v, want that it is allowed", err)
	}
	inside := withObject("inside",
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-in"},"spec":{"type":"ClusterIP","ports":[{"port":80}]}}`)
	inside.Spec.ObjectTemplates[0].Transforms = []v1.Transform{{Path: "/metadata/annotations/ordinal", Expression: "string(ORDINAL)"}}
	allowed := map[string]*v1.StatefulSet{"a Service inside the cluster": inside, "a set without objects": harness.NewSet("plain", 0)}
	for sentence, set := range allowed {
		if _, err := author.Create(t.Context(), set, dry); err != nil {
			t.Errorf("%s: got %v, want that it is allowed", sentence, err)
		}
	}
	if _, err := author.Patch(t.Context(), "older", types.MergePatchType, []byte(`{"spec":{"minReadySeconds":1}}`),
		metav1.PatchOptions{}); err != nil {
		t.Errorf("another field of a set that is older than the policy: got %v, want that it is allowed", err)
	}
}

// withObject is a set without members, with a template of an object.
func withObject(name, manifest string) *v1.StatefulSet {
	set := harness.NewSet(name, 0)
	set.Spec.Identity = &v1.MemberIdentity{}
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "some", Object: runtime.RawExtension{Raw: []byte(manifest)}}}
	return set
}
