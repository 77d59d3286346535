//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// protectedExample creates the example of protection.
func protectedExample(t *testing.T, ns string) {
	t.Helper()
	content, err := os.ReadFile("../../artifacts/examples/protected.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectlApply(t, string(content), "-n", ns)
}

// TestLifeOfTheProtectedExample tries with kubectl all that takes the members of a set.
func TestLifeOfTheProtectedExample(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	protectedExample(t, ns)
	create(t, ns, newSet("other", 1))
	set := waitReady(t, ns, "db", 3)
	pods := podUIDs(t, ns)

	refusal := `set ` + ns + `/db is protected ("the orders of the shop"): remove annotation apps.statefulset.dev/protect first`
	single, collection := "Error from server (Forbidden): "+refusal, "Error from server (Forbidden): nothing was deleted: "+refusal
	path := "/apis/apps.statefulset.dev/v1/namespaces/" + ns + "/statefulsets"
	none, both := `{"spec":{"replicas":0}}`, `{"metadata":{"annotations":{"apps.statefulset.dev/protect":null}},"spec":{"replicas":0}}`
	for sentence, try := range map[string]struct {
		want string
		args []string
	}{
		"deleting it":                      {single, []string{"delete", kind, "db"}},
		"deleting it in a dry run":         {single, []string{"delete", kind, "db", "--dry-run=server"}},
		"deleting it without its pods":     {single, []string{"delete", kind, "db", "--cascade=orphan"}},
		"deleting it after its pods":       {single, []string{"delete", kind, "db", "--cascade=foreground"}},
		"deleting it at once":              {single, []string{"delete", kind, "db", "--force", "--grace-period=0"}},
		"deleting the collection":          {collection, []string{"delete", "--raw", path}},
		"scaling it to none":               {single, []string{"scale", kind, "db", "--replicas=0"}},
		"scaling it to none by its scale":  {single, []string{"patch", kind, "db", "--subresource=scale", "--type=merge", "-p", none}},
		"patching it to none":              {single, []string{"patch", kind, "db", "--type=merge", "-p", none}},
		"patching it to none in a dry run": {single, []string{"patch", kind, "db", "--type=merge", "-p", none, "--dry-run=server"}},
		"ending all in one write":          {single, []string{"patch", kind, "db", "--type=merge", "-p", both}},
	} {
		_, stderr, err := suite.Kubectl(t.Context(), "", append(try.args, "-n", ns)...)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		if err == nil || lines[len(lines)-1] != try.want {
			t.Errorf("%s: got %v and\n%s\nwant an error and\n%s", sentence, err, stderr, try.want)
		}
	}
	if after := waitReady(t, ns, "db", 3); after.Generation != set.Generation || fmt.Sprint(podUIDs(t, ns)) != fmt.Sprint(pods) {
		t.Errorf("after the refusals generation %d and pods %v, want %d and %v", after.Generation, podUIDs(t, ns), set.Generation, pods)
	}
	waitReady(t, ns, "other", 1) // which the deletion of the collection has left alone

	_, stderr, err := suite.Kubectl(t.Context(), "", "annotate", kind, "db", "-n", ns, "--overwrite", "apps.statefulset.dev/protect=false")
	if want := `"false" protects the set, as every value does`; err != nil || !strings.Contains(stderr, want) {
		t.Errorf("with the value false: got %v and %q, want a warning with %q", err, stderr, want)
	}
	kubectl(t, "annotate", kind, "db", "-n", ns, "apps.statefulset.dev/protect-")
	kubectl(t, "delete", kind, "db", "-n", ns)
	harness.Eventually(t, "the members are gone", func(ctx context.Context) error {
		return eachPod(ctx, ns, func(pod *corev1.Pod) error {
			if strings.HasPrefix(pod.Name, "db-") {
				return fmt.Errorf("pod %s is there", pod.Name)
			}
			return nil
		})
	})
}

// TestTheExampleIsTornDownInOrder ends the example member by member, with its claims.
func TestTheExampleIsTornDownInOrder(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	pods := watchPods(t, ns)
	protectedExample(t, ns)
	before := waitReady(t, ns, "db", 3)
	mark := pods.mark()

	const name = "statefulset.apps.statefulset.dev/db: "
	out, err := tryPlugin(t, "delete", "--ordered", "db", "-n", ns)
	if want := "error: nothing was changed: set " + ns +
		`/db is protected ("the orders of the shop"): remove annotation apps.statefulset.dev/protect first` + "\n"; err == nil || out != want {
		t.Errorf("of the protected set kubectl sts says %q with %v, want %q and an error", out, err, want)
	}
	kubectl(t, "annotate", kind, "db", "-n", ns, "apps.statefulset.dev/protect-")
	for mode, mark := range map[string]string{"client": "dry run", "server": "server dry run"} {
		want := name + "3 members: db-2, db-1, db-0\n" +
			name + "claims that are deleted with their members, because whenScaled is Delete: data-db-0, data-db-1, data-db-2\n" +
			name + "scaled to 0 (" + mark + ")\n" +
			`statefulset.apps.statefulset.dev "db" deleted from ` + ns + " namespace (" + mark + ")\n"
		if got := plugin(t, "delete", "--ordered", "db", "-n", ns, "--dry-run="+mode); got != want {
			t.Errorf("with --dry-run=%s kubectl sts says\n%s\nwant\n%s", mode, got, want)
		}
	}
	if after := waitReady(t, ns, "db", 3); after.Generation != before.Generation {
		t.Errorf("after dry runs the generation is %d, want %d", after.Generation, before.Generation)
	}

	out = plugin(t, "delete", "--ordered", "db", "-n", ns, "--timeout=1m")
	if begin, end := name+"3 members: db-2, db-1, db-0\n", `terminated, 0 left`+"\n"+`statefulset.apps.statefulset.dev "db" deleted from `+ns+
		" namespace\n"; !strings.HasPrefix(out, begin) || !strings.HasSuffix(out, end) {
		t.Errorf("kubectl sts says\n%s\nwant it to begin with\n%s\nand to end with\n%s", out, begin, end)
	}
	pods.expect(t, mark, "deleted db-2", "deleted db-1", "deleted db-0")
	if _, err := suite.Sets.AppsV1().StatefulSets(ns).Get(t.Context(), "db", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("getting the set: %v, want not found", err)
	}
	harness.Eventually(t, "the claims are gone", func(context.Context) error {
		if claims := claimUIDs(t, ns); len(claims) > 0 {
			return fmt.Errorf("there are %v", claims)
		}
		return nil
	})
}

// TestANamespaceWaitsForItsProtectedSet deletes the namespace of the example.
func TestANamespaceWaitsForItsProtectedSet(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	protectedExample(t, ns)
	waitReady(t, ns, "db", 3)
	kubectl(t, "delete", "namespace", ns, "--wait=false")
	harness.Eventually(t, "the namespace says what it waits for", func(ctx context.Context) error {
		got, err := suite.Host.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range got.Status.Conditions {
			if condition.Type == corev1.NamespaceDeletionContentFailure && condition.Status == corev1.ConditionTrue &&
				strings.Contains(condition.Message, "set "+ns+"/db is protected") {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %+v", got.Status.Conditions)
	})
	set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil || set.DeletionTimestamp != nil || set.Annotations[v1.ProtectAnnotation] == "" {
		t.Errorf("then the set is %+v with error %v, want it as it was", set, err)
	}
	kubectl(t, "annotate", kind, "db", "-n", ns, "apps.statefulset.dev/protect-")
	harness.Eventually(t, "the namespace is gone", func(ctx context.Context) error {
		_, err := suite.Host.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		if err == nil {
			return errors.New("it is still there")
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}
