//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestExamplesOfOthersPassAndArePlanned tries the examples whose programs are not run here: the host accepts
// what their sets would make, the plan says what that is, and members and objects come and stay. It is not
// parallel, because it gives the controller a right, and takes it away again.
//
//nolint:paralleltest // see above
func TestExamplesOfOthersPassAndArePlanned(t *testing.T) {
	mayMake(t, "services", true)
	takeAwayAgain(t, "objects/services")
	for file, c := range map[string]struct {
		// document is where in the file the set is.
		document int
		set      string
		plan     []string
		services string
		env      map[string]string
	}{
		"mongodb.yaml": {
			set:      "db",
			plan:     []string{"create Service db", "create Service db-2-address", "pod db-2 at "},
			services: "db db-0-address db-1-address db-2-address db-3-address",
		},
		"cassandra.yaml": {
			set:      "cassandra",
			plan:     []string{"create Service cassandra-clients", "pod cassandra-2 at "},
			services: "cassandra cassandra-clients",
			env:      map[string]string{"RACK": "rack3", "SERVICE": "cassandra"},
		},
		"spark.yaml": {
			document: 1,
			set:      "spark",
			plan:     []string{"create Service spark-2-page", "pod spark-2 at "},
			services: "spark spark-0-page spark-1-page spark-2-page spark-3-page",
			env:      map[string]string{"DNS_NAME": "spark-2.spark.NAMESPACE.svc"},
		},
	} {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			ns := namespace(t)
			content, err := os.ReadFile("../../artifacts/examples/" + file)
			if err != nil {
				t.Fatalf("reading the example: %v", err)
			}
			if _, said, err := suite.Kubectl(t.Context(), string(content), "apply", "--dry-run=server", "-f", "-", "-n", ns); err != nil {
				t.Errorf("a dry run: got %v, %s, want no error", err, said)
			}
			said, err := planCommand(t, ns, strings.Split(string(content), "---\n")[c.document], "-f", "-")
			for _, want := range c.plan {
				if err != nil || !strings.Contains(said, want) {
					t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, want)
				}
			}
			kubectlApply(t, string(content), "-n", ns)
			waitReady(t, ns, c.set, 3)
			expectEnv(t, ns, c.set+"-2", c.env)
			kubectl(t, "scale", kind+"/"+c.set, "-n", ns, "--replicas=4")
			waitReady(t, ns, c.set, 4)
			kubectl(t, "scale", kind+"/"+c.set, "-n", ns, "--replicas=2")
			waitReady(t, ns, c.set, 2)
			if got := kubectl(t, "get", "services", "-n", ns, "-l", "apps.statefulset.dev/set="+c.set, "-o",
				"jsonpath={.items[*].metadata.name}"); got != c.services {
				t.Errorf("after members came and left the Services are %q, want %q", got, c.services)
			}
		})
	}
}

// expectEnv wants the container of a pod to be given variables.
func expectEnv(t *testing.T, ns, name string, want map[string]string) {
	t.Helper()
	pod, err := suite.Host.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]corev1.EnvVar{}
	for _, variable := range pod.Spec.Containers[0].Env {
		given[variable.Name] = variable
	}
	for variable, value := range want {
		if got, want := given[variable].Value, strings.ReplaceAll(value, "NAMESPACE", ns); got != want {
			t.Errorf("%s of pod %s: got %q, want %q", variable, name, got, want)
		}
	}
}
