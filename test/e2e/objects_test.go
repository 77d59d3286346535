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

// mayMake gives the controller the right to make objects of a resource, or takes it away, and waits
// until the host knows.
func mayMake(t *testing.T, resource string, may bool) {
	t.Helper()
	mayDo(t, "create", resource, "../../artifacts/objects/"+resource, may)
}

// mayDo applies the role that gives the controller a right, or deletes it, and waits until the host knows.
func mayDo(t *testing.T, right, resource, role string, may bool) {
	t.Helper()
	verb, want := "delete", "no\n"
	if may {
		verb, want = "apply", "yes\n"
	}
	kubectl(t, verb, "-k", role)
	harness.Eventually(t, fmt.Sprintf("the controller may %s %s: %t", right, resource, may), func(ctx context.Context) error {
		if got, said, _ := suite.Kubectl(ctx, "", "auth", "can-i", right, resource,
			"--as=system:serviceaccount:statefulset-system:statefulset-apiserver"); got != want {
			return fmt.Errorf("the host says %q, %s, want %q", got, said, want)
		}
		return nil
	})
}

// takeAwayAgain has a test end without the right that a role below artifacts gives the controller.
func takeAwayAgain(t *testing.T, role string, flags ...string) {
	t.Helper()
	t.Cleanup(func() {
		if _, said, err := suite.Kubectl(context.WithoutCancel(t.Context()), "",
			append([]string{"delete", "-k", "../../artifacts/" + role}, flags...)...); err != nil {
			t.Errorf("taking the right away again: %v: %s", err, said)
		}
	})
}

// TestLifeOfTheExampleWithObjects writes the example before the controller may make its objects,
// and while a ConfigMap of somebody else has the name of one; changes a template, and what the set
// has made; scales the set, also while the right is gone, and deletes it.
func TestLifeOfTheExampleWithObjects(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/supporting-objects.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectl(t, "create", "configmap", "db-1-conf-v1", "-n", ns, "--from-literal=id=mine")
	refused := func(resource string) {
		t.Helper()
		want := fmt.Sprintf("Forbidden: the controller may not create %q; apply artifacts/objects/%s", resource, resource)
		if _, said, err := suite.Kubectl(t.Context(), string(content), "apply", "-f", "-", "-n", ns); err == nil ||
			!strings.Contains(said, want) {
			t.Errorf("without the right the example: got %v, %s, want a refusal with %q", err, said, want)
		}
	}
	refused("services")
	mayMake(t, "services", true)
	refused("configmaps")
	mayMake(t, "configmaps", true)
	takeAwayAgain(t, "objects/services")
	takeAwayAgain(t, "objects/configmaps")
	kubectlApply(t, string(content), "-n", ns)
	set := waitReady(t, ns, "db", 3)
	if got, want := countsOf(set), "peers 1+0, address 3+0, conf-v1 2+1, size 1+0"; got != want {
		t.Errorf("the status counts %s, want %s", got, want)
	}
	expectData(t, ns, "db-1-conf-v1", map[string]string{"id": "mine"})
	harness.Eventually(t, "an event tells how the object of somebody else differs", func(context.Context) error {
		const want = "ConfigMap db-1-conf-v1 is not managed by this set and differs from template conf-v1 in data.address; using it unchanged"
		if got := kubectl(t, "events", "--for", kind+"/db", "-n", ns); !strings.Contains(got, want) {
			return fmt.Errorf("the events are\n%s\nwant one with %q", got, want)
		}
		return nil
	})
	expectData(t, ns, "db-2-conf-v1", map[string]string{"id": "2", "address": "db-2.db." + ns + ".svc"})
	expectData(t, ns, "db-size", map[string]string{"quorum": "2"})

	pods := watchPods(t, ns)
	mark := pods.mark()
	mayMake(t, "configmaps", false)
	kubectl(t, "scale", kind+"/db", "-n", ns, "--replicas=5")
	waitReason(t, ns, v1.StatefulSetStalled, v1.ReasonKindUnavailable, `reading ConfigMap "db-1-conf-v1": `)
	mayMake(t, "configmaps", true)
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

// TestWhoDescribesObjectsMayMakeThem has a user who may write sets and nothing else.
func TestWhoDescribesObjectsMayMakeThem(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/supporting-objects.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectl(t, "create", "role", "sets", "-n", ns, "--verb=get,create,patch,update", "--resource=statefulsets.apps.statefulset.dev")
	kubectl(t, "create", "rolebinding", "sets", "-n", ns, "--role=sets", "--user=eve")
	const want = `spec.objectTemplates[0].object: Forbidden: user "eve" may not create "services" in namespace`
	for sentence, args := range map[string][]string{"a creation": nil, "a dry run": {"--dry-run=server"}, "an apply": {"--server-side"}} {
		verb := "create"
		if sentence == "an apply" {
			verb = "apply"
		}
		_, said, err := suite.Kubectl(t.Context(), string(content), append([]string{verb, "-f", "-", "-n", ns, "--as=eve"}, args...)...)
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("%s: got %q and %v, want an error with %q", sentence, said, err, want)
		}
	}
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
