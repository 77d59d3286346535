//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestLifeOfTheExampleWithOutputs gives the Services of the members addresses, as whoever balances load
// would, one by one; changes one, takes one away and updates the set. It is not parallel, because it
// gives the controller a right, and takes it away again.
//
//nolint:paralleltest // see above
func TestLifeOfTheExampleWithOutputs(t *testing.T) {
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/outputs.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	mayMake(t, "services", true)
	takeAwayAgain(t, "objects/services")
	pods := watchPods(t, ns)
	mark := pods.mark()
	kubectlApply(t, string(content), "-n", ns)
	waitReason(t, ns, v1.StatefulSetReconciling, v1.ReasonWaitingForOutputs,
		"db-0: Service db-0-outside gives no ADDRESS: no such key: ingress")
	balance(t, ns, "db-1", "192.0.2.11")
	expectOutput(t, ns, "db-1", "ADDRESS", "192.0.2.11")
	waitReason(t, ns, v1.StatefulSetReconciling, v1.ReasonWaitingForOutputs, "db-0: Service db-0-outside gives no ADDRESS")
	pods.expect(t, mark, "added db-1")
	balance(t, ns, "db-0", "192.0.2.10")
	balance(t, ns, "db-2", "192.0.2.12")
	waitReady(t, ns, "db", 3)
	entry, err := suite.Host.CoreV1().Services(ns).Get(t.Context(), "db-entry", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expectOutput(t, ns, "db-2", "ENTRY", entry.Spec.ClusterIP)
	expectOutput(t, ns, "db-2", "ENTRY_PORT_NUMBER", "8000")

	mark = pods.mark()
	balance(t, ns, "db-1", "192.0.2.21")
	balance(t, ns, "db-2", "")
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`)
	waitReason(t, ns, v1.StatefulSetReconciling, v1.ReasonWaitingForOutputs, "db-2: Service db-2-outside gives no ADDRESS")
	expectOutput(t, ns, "db-1", "ADDRESS", "192.0.2.21")
	expectOutput(t, ns, "db-2", "ADDRESS", "192.0.2.12")
	waitReason(t, ns, v1.StatefulSetReconciling, v1.ReasonWaitingForOutputs, "3 of 3 members are available; db-2: ")
	for _, entry := range pods.since(mark) {
		if strings.HasSuffix(entry, "db-2") {
			t.Errorf("while its Service has no address, of db-2: %s", entry)
		}
	}
	balance(t, ns, "db-2", "192.0.2.22")
	waitReady(t, ns, "db", 3)
	for pod, address := range map[string]string{"db-0": "192.0.2.10", "db-1": "192.0.2.21", "db-2": "192.0.2.22"} {
		expectOutput(t, ns, pod, "ADDRESS", address)
	}

	const want = `spec.objectTemplates: Forbidden: output "ADDRESS" is removed, but the stored pod template names it`
	_, said, err := suite.Kubectl(t.Context(), "", "patch", kind, "db", "-n", ns, "--type=json", "-p",
		`[{"op":"remove","path":"/spec/objectTemplates/0/outputs"}]`)
	if err == nil || !strings.Contains(said, want) {
		t.Errorf("removing an output that pods name: got %v, %s, want a refusal with %q", err, said, want)
	}
}

// balance gives the Service of a member an address, or takes it away.
func balance(t *testing.T, ns, member, address string) {
	t.Helper()
	ingress := fmt.Sprintf(`{"status":{"loadBalancer":{"ingress":[{"ip":%q}]}}}`, address)
	if address == "" {
		ingress = `{"status":{"loadBalancer":{"ingress":null}}}`
	}
	kubectl(t, "patch", "service", member+"-outside", "-n", ns, "--subresource=status", "--type=merge", "-p", ingress)
}

// expectOutput waits until a pod has an output with a value.
func expectOutput(t *testing.T, ns, name, output, want string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("pod %s has %s", name, output), func(ctx context.Context) error {
		pod, err := suite.Host.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got, has := pod.Annotations[v1.OutputAnnotationPrefix+output]; !has || got != want {
			return fmt.Errorf("it has %q, want %q", got, want)
		}
		return nil
	})
}
