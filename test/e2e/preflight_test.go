//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"statefulset.dev/test/harness"
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
		"a claim of an unknown source": {
			"  selector:",
			"  volumeClaimTemplates: [{metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeAttributesClassName: 'A B'}}]\n  selector:",
			`spec.volumeClaimTemplates[0].spec.volumeAttributesClassName: Invalid value: "A B"`},
	} {
		stdout, stderr, err := suite.Kubectl(t.Context(), strings.Replace(manifestOf("db"), c.old, c.new, 1), "apply", "-n", ns, "-f", "-")
		if err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: got %v, %q and %q, want a refusal with %q", name, err, stdout, stderr, c.want)
		}
	}

	create(t, ns, newSet("db", 0))
	_, stderr, err := suite.Kubectl(t.Context(), "", "patch", kind, "db", "-n", ns, "-p",
		`{"spec":{"template":{"spec":{"dnsPolicy":"Guess"}}}}`)
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
	if _, err := suite.Host.CoreV1().Namespaces().Patch(t.Context(), restricted, types.MergePatchType, enforce,
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("restricting a namespace: %v", err)
	}
	absent := strings.Replace(manifestOf("db"), "containers:", "serviceAccountName: absent, containers:", 1)
	for name, c := range map[string]struct{ ns, manifest, want string }{
		"a quota":                    {full, manifestOf("db"), "exceeded quota: limit"},
		"pod security":               {restricted, manifestOf("db"), `violates PodSecurity "restricted:latest"`},
		"an account that is missing": {readyNamespace(t), absent, `serviceaccount "absent" not found`},
	} {
		stdout, stderr, err := suite.Kubectl(t.Context(), c.manifest, "apply", "-n", c.ns, "-f", "-")
		if want := "Warning: spec.template: a pod could not be created now: "; err != nil || !strings.Contains(stderr, want) ||
			!strings.Contains(stderr, c.want) {
			t.Errorf("%s: got %v, %q and %q, want it to be accepted with a warning that has %q and %q", name, err, stdout, stderr, want, c.want)
		}
	}
	quota, err := suite.Host.CoreV1().ResourceQuotas(full).Get(t.Context(), "limit", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the quota: %v", err)
	}
	if used := quota.Status.Used[corev1.ResourcePods]; !used.IsZero() {
		t.Errorf("the quota counts %s pods, want none: the dry run must not count", used.String())
	}
}

// preflightUser is in whose name objects are tried.
const preflightUser = "system:serviceaccount:statefulset-system:statefulset-preflight"

// TestThePreflightCreatesInDryRunsOnly speaks for the account of the dry runs, as the
// server may and nobody else's account.
func TestThePreflightCreatesInDryRunsOnly(t *testing.T) {
	t.Parallel()
	ns := readyNamespace(t)
	config := rest.CopyConfig(suite.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: preflightUser}
	preflight, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	meta, spec := metav1.ObjectMeta{GenerateName: "try-"},
		corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main:1"}}}
	for kind, create := range map[string]func(metav1.CreateOptions) error{
		"a pod": func(options metav1.CreateOptions) error {
			_, err := preflight.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: meta, Spec: spec}, options)
			return err
		},
		"a pod template": func(options metav1.CreateOptions) error {
			_, err := preflight.CoreV1().PodTemplates(ns).Create(t.Context(),
				&corev1.PodTemplate{ObjectMeta: meta, Template: corev1.PodTemplateSpec{Spec: spec}}, options)
			return err
		},
		"a claim": func(options metav1.CreateOptions) error {
			_, err := preflight.CoreV1().PersistentVolumeClaims(ns).Create(t.Context(),
				&corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				}}, options)
			return err
		},
	} {
		if err := create(metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Errorf("%s in a dry run: got %v, want no error", kind, err)
		}
		if err := create(metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "may create objects in dry runs only") {
			t.Errorf("%s for real: got %v, want that it is denied by the policy", kind, err)
		}
	}
	for account, want := range map[string]bool{"statefulset-preflight": true, "default": false, "statefulset-apiserver": false} {
		review := &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: serverUser, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: "statefulset-system", Verb: "impersonate", Resource: "serviceaccounts", Name: account}}}
		answer, err := suite.Host.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil || answer.Status.Allowed != want {
			t.Errorf("the server may speak for %s: got %+v and error %v, want %t", account, answer.Status, err, want)
		}
	}
}

// TestThePreflightIsAFlowOfItsOwn asks the host by which flow schema it orders a request
// in the name of the account: that is what keeps dry runs from queueing up in front of the
// controller.
func TestThePreflightIsAFlowOfItsOwn(t *testing.T) {
	t.Parallel()
	ns := readyNamespace(t)
	config := rest.CopyConfig(suite.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: preflightUser}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := suite.Host.FlowcontrolV1().FlowSchemas().Get(t.Context(), "service-accounts", metav1.GetOptions{})
	if err != nil || schema.Spec.DistinguisherMethod == nil ||
		schema.Spec.DistinguisherMethod.Type != flowcontrolv1.FlowDistinguisherMethodByUserType {
		t.Fatalf("got flow schema %+v and error %v, want one that tells users apart", schema, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, config.Host+"/api/v1/namespaces/"+ns+"/podtemplates?dryRun=All",
		strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID); got != string(schema.UID) {
		t.Errorf("flow schema of a dry run: got %q, want %q, service-accounts, by which the account is a flow of its own", got, schema.UID)
	}
}

// TestAQuotaComesBeforeTheDryRuns checks that a set for which there is no room is not
// tried, and one that the host refuses not charged for.
func TestAQuotaComesBeforeTheDryRuns(t *testing.T) {
	t.Parallel()
	const count = "count/statefulsets.apps.statefulset.dev"
	full, empty := readyNamespace(t), readyNamespace(t)
	limit(t, full, count, "0")
	limit(t, empty, count, "5")
	if _, stderr, err := suite.Kubectl(t.Context(), manifestOf("db"), "apply", "-n", full, "-f", "-"); err == nil ||
		!strings.Contains(stderr, "exceeded quota") {
		t.Errorf("a set beyond the quota: got %v and %q, want it refused", err, stderr)
	}
	invalid := strings.Replace(manifestOf("db"), "image:", "imagePullPolicy: Sometimes, image:", 1)
	for range 5 {
		if _, stderr, err := suite.Kubectl(t.Context(), invalid, "create", "-n", empty, "-f", "-"); err == nil ||
			!strings.Contains(stderr, "imagePullPolicy") {
			t.Errorf("an invalid set: got %v and %q, want it refused by the host", err, stderr)
		}
	}
	quota, err := suite.Host.CoreV1().ResourceQuotas(empty).Get(t.Context(), "limit", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the quota: %v", err)
	}
	if used := quota.Status.Used[count]; !used.IsZero() {
		t.Errorf("the quota counts %s sets after five that were refused, want none", used.String())
	}
	expectDryRuns(t, empty, "of five sets", map[string]int{"podtemplates": 5, "pods": 5})
	expectDryRuns(t, full, "of a set beyond the quota", map[string]int{})
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
	expectDryRuns(t, ns, "after changes of other things than the template",
		map[string]int{"podtemplates": 1, "pods": 1, "persistentvolumeclaims": 1})

	kubectl(t, "patch", kind, "db", "-n", ns, "--dry-run=server", "-p", `{"spec":{"template":{"metadata":{"labels":{"color":"green"}}}}}`)
	expectDryRuns(t, ns, "after a change of the template, itself a dry run",
		map[string]int{"podtemplates": 2, "pods": 2, "persistentvolumeclaims": 1})
}

// expectDryRuns waits until the log shows just the given dry runs of our server in a
// namespace. One too many is found at the latest when the next are expected.
func expectDryRuns(t *testing.T, ns, when string, want map[string]int) {
	t.Helper()
	harness.Eventually(t, "the audit log shows the dry runs "+when, func(context.Context) error {
		got := map[string]int{}
		eachAuditEvent(t, func(event *auditv1.Event) {
			if event.User.Username == serverUser && event.ImpersonatedUser != nil && event.ImpersonatedUser.Username == preflightUser &&
				event.ObjectRef != nil && event.ObjectRef.Namespace == ns &&
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
	harness.Eventually(t, "the namespace has its service account", func(ctx context.Context) error {
		_, err := suite.Host.CoreV1().ServiceAccounts(ns).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return ns
}
