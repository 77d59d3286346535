//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// rightToObjects lets the controller make what the example describes.
const rightToObjects = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: objects-of-the-example}
rules:
- {apiGroups: [""], resources: [configmaps, services], verbs: [get, list, watch, create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: objects-of-the-example}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: objects-of-the-example}
subjects: [{kind: ServiceAccount, name: statefulset-apiserver, namespace: statefulset-system}]
`

// TestLifeOfTheExampleWithObjects creates the example before the controller may make its objects,
// and while a ConfigMap of somebody else has the name of one; changes a template, and what the set
// has made; scales the set, and deletes it.
func TestLifeOfTheExampleWithObjects(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/supporting-objects.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectl(t, "create", "configmap", "db-1-conf-v1", "-n", ns, "--from-literal=id=mine")
	kubectlApply(t, string(content), "-n", ns)
	waitReason(t, ns, v1.StatefulSetStalled, v1.ReasonHostRefused, "could not create Service db")
	kubectlApply(t, strings.Replace(rightToObjects, "configmaps, services", "services", 1))
	waitReason(t, ns, v1.StatefulSetStalled, v1.ReasonKindUnavailable, "ConfigMap cannot be watched")
	if pods, err := suite.Host.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{}); err != nil || len(pods.Items) > 0 {
		t.Errorf("without their objects there are pods %v, %v, want none", pods.Items, err)
	}

	kubectlApply(t, rightToObjects)
	t.Cleanup(func() {
		if _, said, err := suite.Kubectl(context.WithoutCancel(t.Context()), rightToObjects, "delete", "-f", "-"); err != nil {
			t.Errorf("taking the right away again: %v: %s", err, said)
		}
	})
	set := waitReady(t, ns, "db", 3)
	if got, want := countsOf(set), "peers 1+0, address 3+0, conf-v1 2+1, size 1+0"; got != want {
		t.Errorf("the status counts %s, want %s", got, want)
	}
	expectData(t, ns, "db-1-conf-v1", map[string]string{"id": "mine"})
	expectData(t, ns, "db-2-conf-v1", map[string]string{"id": "2", "address": "db-2.db." + ns + ".svc"})
	expectData(t, ns, "db-size", map[string]string{"quorum": "2"})

	pods := watchPods(t, ns)
	mark := pods.mark()
	kubectl(t, "scale", kind+"/db", "-n", ns, "--replicas=5")
	waitReady(t, ns, "db", 5)
	expectData(t, ns, "db-size", map[string]string{"quorum": "3"})
	pods.expect(t, mark, "added db-3", "added db-4")

	kubectl(t, "patch", "configmap", "db-2-conf-v1", "-n", ns, "--type=merge", "-p", `{"data":{"id":"9","more":"theirs"}}`)
	expectData(t, ns, "db-2-conf-v1", map[string]string{"id": "2", "address": "db-2.db." + ns + ".svc", "more": "theirs"})
	kubectl(t, "delete", "service", "db-0-address", "-n", ns)
	harness.Eventually(t, "a Service that is deleted is made again", func(ctx context.Context) error {
		_, err := suite.Host.CoreV1().Services(ns).Get(ctx, "db-0-address", metav1.GetOptions{})
		return err
	})

	wider := strings.Replace(strings.Replace(string(content), "address: $(DNS_NAME)", "host: $(DNS_NAME)", 1), "replicas: 3", "replicas: 5", 1)
	kubectlApply(t, wider, "-n", ns)
	expectData(t, ns, "db-2-conf-v1", map[string]string{"id": "2", "host": "db-2.db." + ns + ".svc", "more": "theirs"})

	kubectl(t, "scale", kind+"/db", "-n", ns, "--replicas=1")
	waitReady(t, ns, "db", 1)
	expectData(t, ns, "db-4-conf-v1", map[string]string{"id": "4", "host": "db-4.db." + ns + ".svc"})
	kubectl(t, "delete", kind, "db", "-n", ns, "--wait")
	expectData(t, ns, "db-size", map[string]string{"quorum": "1"})
}

// countsOf tells of a status how many objects are the set's, and how many somebody else's.
func countsOf(set *v1.StatefulSet) string {
	var all []string
	for _, s := range set.Status.ObjectTemplates {
		all = append(all, fmt.Sprintf("%s %d+%d", s.Name, s.Present, s.Foreign))
	}
	return strings.Join(all, ", ")
}

// expectData waits until a ConfigMap has exactly this data.
func expectData(t *testing.T, ns, name string, want map[string]string) {
	t.Helper()
	text := func(data map[string]string) string {
		var all []string
		for key, value := range data {
			all = append(all, key+"="+value)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	harness.Eventually(t, fmt.Sprintf("ConfigMap %s has %v", name, want), func(ctx context.Context) error {
		object, err := suite.Host.CoreV1().ConfigMaps(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := text(object.Data); got != text(want) {
			return fmt.Errorf("it has %s, want %s", got, text(want))
		}
		return nil
	})
}
