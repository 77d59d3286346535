//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

func TestTables(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("db", 2))
	waitReady(t, ns, "db", 2)
	for command, want := range map[string]string{
		"get sset":         `^NAME +READY +AGE\ndb +2/2 +\d+s\n$`,
		"get sset -o wide": `^NAME +READY +AGE +CONTAINERS +IMAGES\ndb +2/2 +\d+s +main +example.test/main:1\n$`,
		"get " + kind:      `^NAME +READY +AGE\ndb +2/2 +\d+s\n$`,
	} {
		got := kubectl(t, append(strings.Fields(command), "-n", ns)...)
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("kubectl %s printed\n%s\nwant a match of\n%s", command, got, want)
		}
	}
}

// TestBuiltInKindIsLeftAlone checks that the short ways to name the built-in kind
// still mean it, and say nothing about ours.
func TestBuiltInKindIsLeftAlone(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("ours", 0))
	for _, name := range []string{"sts", "statefulsets", "all"} {
		stdout, stderr, err := suite.Kubectl(t.Context(), "", "get", name, "-n", ns)
		if err != nil || strings.Contains(stdout, "ours") || strings.Contains(stderr, "Warning") {
			t.Errorf("kubectl get %s: %v\n%s%s\nwant neither a warning nor a set of ours", name, err, stdout, stderr)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"sset.spec.updateStrategy.rollingUpdate.maxUnavailable":      "number of members that may be unavailable",
		"sset.spec.volumeClaimTemplates":                             "describe the claims of a member",
		"sset.spec.template.spec.containers.readinessProbe":          "readiness",
		"sset.status.conditions":                                     "describe the state of the set",
		"pods.spec.containers --output=plaintext-openapiv2":          "FIELDS",
		"sset.spec.ordinals --output=plaintext-openapiv2":            "start",
		"sset.spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
		"statefulsets.apps --output=plaintext-openapiv2":             "a set of pods with consistent identities",
		"statefulsets --api-version=apps.statefulset.dev/v1":         "members that are not interchangeable",
	} {
		if got := kubectl(t, append([]string{"explain"}, strings.Fields(path)...)...); !strings.Contains(got, want) {
			t.Errorf("kubectl explain %s printed\n%s\nwant it to contain %q", path, got, want)
		}
	}
}

// TestApplyKeepsWhatOthersAdded checks that kubectl merges lists by their keys, as
// it does for built-in kinds.
func TestApplyKeepsWhatOthersAdded(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	manifest := strings.Replace(example(t), "replicas: 3", "replicas: 0", 1)
	kubectlApply(t, manifest, "-n", ns)
	kubectl(t, "patch", kind, "web", "-n", ns, "-p",
		`{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"example.test/sidecar:1"}]}}}}`)
	kubectlApply(t, strings.Replace(manifest, "nginx-slim:0.24", "nginx-slim:0.25", 1), "-n", ns)

	got := kubectl(t, "get", kind, "web", "-n", ns, "-o", "jsonpath={.spec.template.spec.containers[*].image}")
	for _, image := range []string{"registry.k8s.io/nginx-slim:0.25", "example.test/sidecar:1"} {
		if !strings.Contains(got, image) {
			t.Errorf("images after the second apply are %q, want %s among them", got, image)
		}
	}
}

func TestServerSideApply(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	manifest := strings.Replace(example(t), "replicas: 3", "replicas: 0", 1)
	kubectlApply(t, manifest, "-n", ns, "--server-side", "--field-manager=one")
	changed := strings.Replace(manifest, "nginx-slim:0.24", "nginx-slim:0.25", 1)
	_, stderr, err := suite.Kubectl(t.Context(), changed, "apply", "-f", "-", "-n", ns, "--server-side", "--field-manager=two")
	if err == nil || !strings.Contains(stderr, `"one"`) || !strings.Contains(stderr, ".spec.template.spec.containers[name=\"nginx\"].image") {
		t.Errorf("applying another image as another manager: %v\n%s\nwant a conflict with \"one\" about the image", err, stderr)
	}
	kubectlApply(t, changed, "-n", ns, "--server-side", "--field-manager=two", "--force-conflicts")
}

// TestEverydayVerbs runs verbs that need nothing but a well-behaved API.
func TestEverydayVerbs(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("db", 1))
	for _, command := range []string{
		"wait --for=condition=Ready " + kind + "/db --timeout=60s",
		"label " + kind + " db tier=data",
		"annotate " + kind + " db note=x",
		"get " + kind + " -l tier=data",
		"get " + kind + " --field-selector=metadata.name=db",
		"describe " + kind + " db",
		"scale " + kind + " db --current-replicas=1 --replicas=2",
		"get " + kind + " db --subresource=scale",
		"get " + kind + " db --subresource=status",
		"patch " + kind + " db --subresource=scale --type=merge -p {\"spec\":{\"replicas\":1}}",
		"auth can-i create " + kind,
		"delete " + kind + " db --dry-run=server",
		"delete " + kind + " --all",
	} {
		kubectl(t, append(strings.Fields(command), "-n", ns)...)
	}
	harness.Eventually(t, "the events of the set can be read", func(context.Context) error {
		got := kubectl(t, "events", "--for", kind+"/db", "-n", ns)
		if !strings.Contains(got, "SuccessfulCreate") {
			return fmt.Errorf("kubectl events printed %q", got)
		}
		return nil
	})
	list, err := suite.Sets.AppsV1().StatefulSets(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) > 0 {
		t.Errorf("sets after delete --all: %v, %d of them; want none", err, len(list.Items))
	}
}
