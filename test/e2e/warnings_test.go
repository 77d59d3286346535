//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestASetIsWarnedOfAServiceThatDoesNotServeIt applies a set without its Service, and with one
// that is created just before it.
func TestASetIsWarnedOfAServiceThatDoesNotServeIt(t *testing.T) {
	t.Parallel()
	const service = `
---
apiVersion: v1
kind: Service
metadata: {name: x}
spec: {clusterIP: %s, selector: {app: %s}, ports: [{port: 80}]}
---
`
	for sentence, c := range map[string]struct{ service, want string }{
		"there is none":       {"", "has no headless Service \"x\" now"},
		"it has a cluster IP": {fmt.Sprintf(service, `""`, "x"), "Service \"x\" is not headless: it has the cluster IP 10."},
		"it selects other pods": {
			fmt.Sprintf(service, "None", "other"), "the selector of Service \"x\" (app=other) does not match the labels of spec.template"},
		"it is headless, and selects its pods": {fmt.Sprintf(service, "None", "x"), ""},
	} {
		ns := readyNamespace(t)
		_, stderr, err := suite.Kubectl(t.Context(), c.service+manifestOf("db"), "apply", "-n", ns, "-f", "-")
		if warned := strings.Contains(stderr, "Warning: spec.serviceName"); err != nil || !strings.Contains(stderr, c.want) ||
			warned != (c.want != "") {
			t.Errorf("%s: got %q and error %v, want a warning with %q, or none if that is empty", sentence, stderr, err, c.want)
		}
	}
}

// TestASetIsWarnedOfAStorageClassThatDoesNotExist applies a set whose claims get no volume, and reads what its
// status says of that.
func TestASetIsWarnedOfAStorageClassThatDoesNotExist(t *testing.T) {
	t.Parallel()
	ns, set := readyNamespace(t), newSet("db", 1)
	set.Spec.ServiceName = ""
	set.Spec.VolumeClaimTemplates[0].Spec.StorageClassName = new("fats")
	manifest, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	_, stderr, err := suite.Kubectl(t.Context(), string(manifest), "apply", "-n", ns, "-f", "-")
	if want := `Warning: spec.volumeClaimTemplates[0].spec.storageClassName: the cluster has no StorageClass "fats" now`; err != nil ||
		!strings.Contains(stderr, want) {
		t.Errorf("got %q and error %v, want a warning with %q", stderr, err, want)
	}
	harness.Eventually(t, "the status names the claim and its StorageClass", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		const want = `claim data-db-0 of StorageClass "fats" has no volume`
		if ready := conditionOf(set, v1.StatefulSetReady); ready == nil || !strings.Contains(ready.Message, want) {
			return fmt.Errorf("its condition is %v, want %q", ready, want)
		}
		return nil
	})
}
