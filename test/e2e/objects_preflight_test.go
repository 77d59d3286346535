//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jobs is a set whose members have a Job each, which never starts.
func jobs(restartPolicy, image string) string {
	return manifestOf("db") + fmt.Sprintf(`  objectTemplates:
  - name: prime
    object:
      apiVersion: batch/v1
      kind: Job
      metadata: {name: $(IDENTITY)-prime}
      spec: {suspend: true, template: {spec: {restartPolicy: %s, containers: [{name: prime, image: %q}]}}}
`, restartPolicy, image)
}

// TestInvalidObjectsAreRefused checks that what no object can be created from is refused at once, in the
// host's words and at the path in the set; and that one which the host does not let be changed is told of.
func TestInvalidObjectsAreRefused(t *testing.T) {
	t.Parallel()
	ns := readyNamespace(t)
	mayMake(t, "jobs", true)
	takeAwayAgain(t, "objects/jobs")
	_, stderr, err := suite.Kubectl(t.Context(), jobs("Sometimes", "example.test/prime:1"), "apply", "-n", ns, "-f", "-")
	if want := `spec.objectTemplates[0].object.spec.template.spec.restartPolicy: Unsupported value: "Sometimes"`; err == nil ||
		!strings.Contains(stderr, want) {
		t.Errorf("a Job with a policy that does not exist: got %v and %q, want a refusal with %q", err, stderr, want)
	}

	good := strings.Replace(jobs("Never", "example.test/prime:1"), "replicas: 0", "replicas: 1", 1)
	kubectlApply(t, good, "-n", ns)
	waitReady(t, ns, "db", 1)
	before, err := suite.Host.BatchV1().Jobs(ns).Get(t.Context(), "db-0-prime", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the Job of the first member: %v", err)
	}
	_, stderr, err = suite.Kubectl(t.Context(), strings.Replace(good, "prime:1", "prime:2", 1), "apply", "-n", ns, "--dry-run=server", "-f",
		"-")
	for _, want := range []string{"Job db-0-prime could not be changed: spec.objectTemplates[0].object.spec.template",
		"field is immutable; if the field is immutable, delete the object so that it is recreated"} {
		if err != nil || !strings.Contains(stderr, want) {
			t.Errorf("another image: got %v and %q, want that it is accepted with a warning that has %q", err, stderr, want)
		}
	}
	after, err := suite.Host.BatchV1().Jobs(ns).Get(t.Context(), "db-0-prime", metav1.GetOptions{})
	if err != nil || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("after the trials the Job has version %s, error %v, want %s as before", after.ResourceVersion, err, before.ResourceVersion)
	}
}
