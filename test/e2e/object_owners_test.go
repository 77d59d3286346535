//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

const setWithConfiguration = `
apiVersion: apps.statefulset.dev/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: registry.example/db:1}]
  objectTemplates:
  - name: conf
    object:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: $(IDENTITY)-conf}
      data: {member: $(IDENTITY)}
`

// TestObjectsOfAMemberThatReturnsGoWithTheSetAsItSaysThen has a set say that its objects are deleted with
// it, while one of its two members is removed, and take that back in the write that brings the member back.
// It is not parallel, because it gives the controller rights, and takes them away again.
//
//nolint:paralleltest // see above
func TestObjectsOfAMemberThatReturnsGoWithTheSetAsItSaysThen(t *testing.T) {
	ns := namespace(t)
	mayMake(t, "configmaps", true)
	takeAwayAgain(t, "objects/configmaps")
	kubectlApply(t, setWithConfiguration, "-n", ns)
	waitReady(t, ns, "db", 2)
	before := objectUIDs(t, ns)

	kubectl(t, "scale", kind, "db", "--replicas=1", "-n", ns)
	waitReady(t, ns, "db", 1)
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p",
		`[{"op":"add","path":"/spec/objectTemplates/0/retention","value":{"whenDeleted":"Delete"}}]`)
	eventuallyOwned(t, ns, 1)
	waitReady(t, ns, "db", 1)

	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/replicas","value":2},{"op":"remove","path":"/spec/objectTemplates/0/retention"}]`)
	waitReady(t, ns, "db", 2)
	eventuallyOwned(t, ns, 0)
	kubectl(t, "delete", kind, "db", "-n", ns)
	expectObjects(t, ns, before)
}

// eventuallyOwned waits until the objects of both members have so many owners each.
func eventuallyOwned(t *testing.T, ns string, owners int) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("each object has %d owners", owners), func(ctx context.Context) error {
		for _, name := range []string{"db-0-conf", "db-1-conf"} {
			object, err := suite.Host.CoreV1().ConfigMaps(ns).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if len(object.OwnerReferences) != owners {
				return fmt.Errorf("ConfigMap %s has owners %v, want %d", name, object.OwnerReferences, owners)
			}
		}
		return nil
	})
}
