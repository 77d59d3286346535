//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// TestInvalidTemplatesAreRefused checks that what no pod can be created from is
// refused at once, in the host's words and at the path in the set.
func TestInvalidTemplatesAreRefused(t *testing.T) {
	t.Parallel()
	ns := readyNamespace(t)
	for name, c := range map[string]struct{ old, new, want string }{
		"a pull policy that does not exist": {"image:", "imagePullPolicy: Sometimes, image:",
			`spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`},
		"a port that does not exist": {"image:", "ports: [{containerPort: 70000}], image:",
			"spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"},
		"a volume without a path": {"containers:", "volumes: [{name: a, hostPath: {}}], containers:",
			"spec.template.spec.volumes[0].hostPath.path: Required value"},
		"a claim of an unknown source": {"  selector:", "  volumeClaimTemplates: [{metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeAttributesClassName: 'A B'}}]\n  selector:",
			`spec.volumeClaimTemplates[0].spec.volumeAttributesClassName: Invalid value: "A B"`},
	} {
		stdout, stderr, err := tryKubectl(t, strings.Replace(manifestOf("db"), c.old, c.new, 1), "apply", "-n", ns, "-f", "-")
		if err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: got %v, %q and %q, want a refusal with %q", name, err, stdout, stderr, c.want)
		}
	}

	create(t, ns, newSet("db", 0))
	_, stderr, err := tryKubectl(t, "", "patch", kind, "db", "-n", ns, "-p", `{"spec":{"template":{"spec":{"dnsPolicy":"Guess"}}}}`)
	if want := `spec.template.spec.dnsPolicy: Unsupported value: "Guess"`; err == nil || !strings.Contains(stderr, want) {
		t.Errorf("patching the template: got %v and %q, want a refusal with %q", err, stderr, want)
	}
}

// TestPoliciesAreWarnedOf checks that a set whose pods are not allowed now is stored
// all the same, and its user told.
func TestPoliciesAreWarnedOf(t *testing.T) {
	t.Parallel()
	full := readyNamespace(t)
	limit(t, full, "pods", "0")
	restricted := readyNamespace(t)
	enforce := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	if _, err := suite.host.CoreV1().Namespaces().Patch(t.Context(), restricted, types.MergePatchType, enforce, metav1.PatchOptions{}); err != nil {
		t.Fatalf("restricting a namespace: %v", err)
	}
	absent := strings.Replace(manifestOf("db"), "containers:", "serviceAccountName: absent, containers:", 1)
	for name, c := range map[string]struct{ ns, manifest, want string }{
		"a quota":                    {full, manifestOf("db"), "exceeded quota: limit"},
		"pod security":               {restricted, manifestOf("db"), `violates PodSecurity "restricted:latest"`},
		"an account that is missing": {readyNamespace(t), absent, `serviceaccount "absent" not found`},
	} {
		stdout, stderr, err := tryKubectl(t, c.manifest, "apply", "-n", c.ns, "-f", "-")
		if want := "Warning: spec.template: a pod could not be created now: "; err != nil || !strings.Contains(stderr, want) || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: got %v, %q and %q, want it to be accepted with a warning that has %q and %q", name, err, stdout, stderr, want, c.want)
		}
	}
	quota, err := suite.host.CoreV1().ResourceQuotas(full).Get(t.Context(), "limit", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the quota: %v", err)
	}
	if used := quota.Status.Used[corev1.ResourcePods]; !used.IsZero() {
		t.Errorf("the quota counts %s pods, want none: the dry run must not count", used.String())
	}
}

// TestWhatADryRunIsSpentOn reads in the host's audit log for which writes our server
// has asked it.
func TestWhatADryRunIsSpentOn(t *testing.T) {
	t.Parallel()
	ns := readyNamespace(t)
	create(t, ns, newSet("db", 0))
	expectDryRuns(t, ns, "after the create", map[string]int{"podtemplates": 1, "pods": 1, "persistentvolumeclaims": 1})

	kubectl(t, "scale", kind, "db", "-n", ns, "--replicas=1")
	waitReady(t, ns, "db", 1)
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", `{"spec":{"minReadySeconds":1}}`)
	kubectl(t, "label", kind, "db", "-n", ns, "color=green")
	expectDryRuns(t, ns, "after changes of other things than the template", map[string]int{"podtemplates": 1, "pods": 1, "persistentvolumeclaims": 1})

	kubectl(t, "patch", kind, "db", "-n", ns, "--dry-run=server", "-p", `{"spec":{"template":{"metadata":{"labels":{"color":"green"}}}}}`)
	expectDryRuns(t, ns, "after a change of the template, itself a dry run", map[string]int{"podtemplates": 2, "pods": 2, "persistentvolumeclaims": 1})
}

// expectDryRuns waits until the log shows just the given dry runs of our server in a
// namespace. One too many is found at the latest when the next are expected.
func expectDryRuns(t *testing.T, ns, when string, want map[string]int) {
	t.Helper()
	eventually(t, "the audit log shows the dry runs "+when, func(context.Context) error {
		got := map[string]int{}
		eachAuditEvent(t, func(event *auditv1.Event) {
			if event.User.Username == serverUser && event.ObjectRef != nil && event.ObjectRef.Namespace == ns &&
				strings.Contains(event.RequestURI, "dryRun=All") && event.Stage == auditv1.StageResponseComplete {
				got[event.ObjectRef.Resource]++
			}
		})
		if !maps.Equal(got, want) {
			return fmt.Errorf("dry runs: got %v, want %v", got, want)
		}
		return nil
	})
}

// readyNamespace is a namespace in which a pod can be created.
func readyNamespace(t *testing.T) string {
	t.Helper()
	ns := namespace(t)
	eventually(t, "the namespace has its service account", func(ctx context.Context) error {
		_, err := suite.host.CoreV1().ServiceAccounts(ns).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return ns
}
