//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// mayDelete gives the controller the right to delete what it has made of a resource, or takes it away,
// and waits until the host knows.
func mayDelete(t *testing.T, resource string, may bool) {
	t.Helper()
	mayDo(t, "delete", resource, "../../artifacts/objects-delete/"+resource, may)
}

// takeRightsAwayAgain has a test end without the rights that it gives the controller, and may have taken away.
func takeRightsAwayAgain(t *testing.T, resources ...string) {
	t.Helper()
	for _, resource := range resources {
		takeAwayAgain(t, "objects/"+resource, "--ignore-not-found")
		takeAwayAgain(t, "objects-delete/"+resource, "--ignore-not-found")
	}
}

// TestLifeOfTheExampleWithRetention scales the example in and out within the delay, and in again; deletes
// the objects of one member by hand, and has those of another deleted, at first without the right. It is not
// parallel, because it gives the controller rights, and takes them away again.
//
//nolint:paralleltest // see above
func TestLifeOfTheExampleWithRetention(t *testing.T) {
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/object-retention.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	resources := []string{"services", "configmaps", "secrets"}
	takeRightsAwayAgain(t, resources...)
	for _, resource := range resources {
		mayMake(t, resource, true)
	}
	const want = `the controller may not delete "services"; apply artifacts/objects-delete/services`
	if _, said, err := suite.Kubectl(t.Context(), string(content), "apply", "-f", "-", "-n", ns); err == nil || !strings.Contains(said, want) {
		t.Errorf("without the right to delete the example: got %v, %s, want a refusal with %q", err, said, want)
	}
	for _, resource := range resources {
		mayDelete(t, resource, true)
	}
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	before := objectUIDs(t, ns)
	one := strings.Replace(string(content), "replicas: 3", "replicas: 1", 1)
	said, err := planCommand(t, ns, one, "-f", "-")
	for _, line := range []string{
		"delete ConfigMap db-2-conf (member removed by ", "delete Service db-1-address (member removed by ", "it has been due since "} {
		if err != nil || !strings.Contains(said, line) {
			t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, line)
		}
	}

	kubectl(t, "scale", kind, "db", "--replicas=1", "-n", ns)
	waitRetired(t, ns, 2)
	expectObjects(t, ns, before)
	if tree := plugin(t, "tree", "db", "-n", ns); !strings.Contains(tree,
		"conf  ConfigMap $(IDENTITY)-conf, 1 of 1 exist, 2 of removed members, due for deletion from ") {
		t.Errorf("the tree says nothing of what is due:\n%s", tree)
	}
	kubectl(t, "scale", kind, "db", "--replicas=3", "-n", ns)
	waitReady(t, ns, "db", 3)
	waitRetired(t, ns, 0)
	expectObjects(t, ns, before)

	kubectl(t, "scale", kind, "db", "--replicas=1", "-n", ns)
	waitRetired(t, ns, 2)
	if said, err := tryPlugin(t, "reclaim", "db", "--ordinals=0,2", "--objects", "--yes", "-n", ns); err == nil ||
		!strings.Contains(said, "db-0 is a member of the set") {
		t.Errorf("reclaiming a wanted member: got %v, %s, want a refusal", err, said)
	}
	plugin(t, "reclaim", "db", "--ordinals=2", "--objects", "--yes", "-n", ns)
	waitRetired(t, ns, 1)
	maps.DeleteFunc(before, func(name, _ string) bool { return strings.Contains(name, "db-2-") })
	expectObjects(t, ns, before)

	for _, resource := range resources {
		mayDelete(t, resource, false)
	}
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/replicas","value":1},{"op":"remove","path":"/spec/objectTemplates/0/retention"}]`)
	waitStatus(t, ns, "what is not deleted any more is not retired", func(set *v1.StatefulSet) string {
		if s := set.Status.ObjectTemplates; s[0].Retired != 0 || s[1].Retired != 1 {
			return fmt.Sprintf("status says %+v", s)
		}
		return ""
	})
	mayDelete(t, "configmaps", true)
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/objectTemplates/1/retention/scaledAfterSeconds","value":1}]`)
	delete(before, "ConfigMap db-1-conf")
	eventuallyObjects(t, ns, "what is due is deleted", before)
	waitReady(t, ns, "db", 1)
	objectsEnd(t, ns, string(content), before)
}

// objectsEnd deletes the set, of which a template does not ask for that any more; brings it back and deletes
// it without what belongs to it, which a next one takes over; and deletes that one.
func objectsEnd(t *testing.T, ns, content string, before map[string]string) {
	t.Helper()
	kubectl(t, "delete", kind, "db", "-n", ns)
	maps.DeleteFunc(before, func(name, _ string) bool { return !strings.HasPrefix(name, "Service") })
	eventuallyObjects(t, ns, "the objects of two templates go with the set, and those of the other stay", before)

	mayDelete(t, "services", true)
	mayDelete(t, "secrets", true)
	kubectlApply(t, content, "-n", ns)
	waitReady(t, ns, "db", 3)
	before = objectUIDs(t, ns)
	kubectl(t, "delete", kind, "db", "-n", ns, "--cascade=orphan")
	kubectlApply(t, content, "-n", ns)
	waitReady(t, ns, "db", 3)
	expectObjects(t, ns, before)
	kubectl(t, "delete", kind, "db", "-n", ns)
	eventuallyObjects(t, ns, "all objects go with the set, those of the set before it, too", map[string]string{})
}

// eventuallyObjects waits until there are exactly these objects.
func eventuallyObjects(t *testing.T, ns, sentence string, want map[string]string) {
	t.Helper()
	harness.Eventually(t, sentence, func(context.Context) error {
		if got := objectUIDs(t, ns); !maps.Equal(got, want) {
			return fmt.Errorf("the objects are %v, want %v", got, want)
		}
		return nil
	})
}

// waitRetired waits until the status says of both templates that so many objects are to be deleted.
func waitRetired(t *testing.T, ns string, n int32) {
	t.Helper()
	waitStatus(t, ns, fmt.Sprintf("%d objects of each template are to be deleted", n), func(set *v1.StatefulSet) string {
		for _, s := range set.Status.ObjectTemplates {
			if s.Retired != n || (s.DueTime != nil) != (n > 0) {
				return fmt.Sprintf("status says %+v", s)
			}
		}
		return ""
	})
}

// waitStatus waits until nothing is wrong with a set.
func waitStatus(t *testing.T, ns, sentence string, wrong func(*v1.StatefulSet) string) {
	t.Helper()
	harness.Eventually(t, sentence, func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if text := wrong(set); text != "" {
			return errors.New(text)
		}
		return nil
	})
}

func expectObjects(t *testing.T, ns string, want map[string]string) {
	t.Helper()
	if got := objectUIDs(t, ns); !maps.Equal(got, want) {
		t.Errorf("the objects are %v, want %v", got, want)
	}
}

// objectUIDs are those of the objects that the set has made.
func objectUIDs(t *testing.T, ns string) map[string]string {
	t.Helper()
	uids := map[string]string{}
	options := metav1.ListOptions{LabelSelector: v1.ObjectSetLabel + "=db"}
	services, err := suite.Host.CoreV1().Services(ns).List(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range services.Items {
		uids["Service "+object.Name] = string(object.UID)
	}
	configs, err := suite.Host.CoreV1().ConfigMaps(ns).List(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range configs.Items {
		uids["ConfigMap "+object.Name] = string(object.UID)
	}
	secrets, err := suite.Host.CoreV1().Secrets(ns).List(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range secrets.Items {
		uids["Secret "+object.Name] = string(object.UID)
	}
	return uids
}
