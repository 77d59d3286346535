//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

const (
	// backups is a kind that a cluster may have or not.
	backups = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.test.example}
spec:
  group: test.example
  scope: Namespaced
  names: {plural: backups, singular: backup, kind: Backup}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	// makeBackups lets the controller make such objects.
	makeBackups = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: test-makes-backups, labels: {apps.statefulset.dev/aggregate-to-controller: "true"}}
rules:
- {apiGroups: [test.example], resources: [backups], verbs: [get, list, watch, create, patch]}
`
	backedUp = `{"spec":{"objectTemplates":[{"name":"backup","object":{"apiVersion":"test.example/v1","kind":"Backup",
		"metadata":{"name":"$(IDENTITY)-backup"},"spec":{"of":"$(IDENTITY)"}}}]}}`
)

// TestAKindGoesAndComesBack takes a kind out of the cluster of which a set has an object for each member.
func TestAKindGoesAndComesBack(t *testing.T) {
	forOurs(t, "a set whose objects are of a kind that goes keeps its members, makes no other one until the kind is back, and is the only one that waits", func(t *testing.T, k kind) {
		s := newSet(t, k, 2, nil)
		if err := s.tryPatch(t.Context(), backedUp); err == nil || !strings.Contains(err.Error(), "test.example/v1") {
			t.Errorf("before the kind is installed: got %v, want the set refused for test.example/v1", err)
		}
		cluster.MustKubectl(t, backups, "apply", "-f", "-")
		cluster.MustKubectl(t, makeBackups, "apply", "-f", "-")
		t.Cleanup(func() {
			for _, what := range []string{"crd/backups.test.example", "clusterrole/test-makes-backups"} {
				_, _, _ = cluster.Kubectl(context.Background(), "", "delete", what, "--ignore-not-found")
			}
		})
		harness.Eventually(t, "the set may have backups", func(ctx context.Context) error { return s.tryPatch(ctx, backedUp) })
		s.awaitBackups(t, "web-0", "web-1")
		s.awaitReason(t, v1.ReasonMembersAvailable, "")
		members := s.members(t)

		cluster.MustKubectl(t, "", "delete", "crd/backups.test.example")
		s.patch(t, `{"spec":{"replicas":3}}`)
		const gone = "Backup.test.example cannot be watched: the server could not find the requested resource"
		found := s.awaitReason(t, v1.ReasonKindUnavailable, gone)
		if got := found.Status.ObjectTemplates; len(got) != 1 || !strings.HasPrefix(got[0].Message, gone) {
			t.Errorf("status.objectTemplates are %+v, want one template that tells why", got)
		}
		other := newSet(t, k, 1, nil)
		other.awaitReason(t, v1.ReasonMembersAvailable, "")
		if now := s.members(t); !maps.Equal(now, members) {
			t.Errorf("without the kind the members are %v, want those of before, %v", now, members)
		}

		cluster.MustKubectl(t, backups, "apply", "-f", "-")
		s.awaitReady(t, 3)
		s.awaitReason(t, v1.ReasonMembersAvailable, "")
		s.awaitBackups(t, "web-0", "web-1", "web-2")
		now := s.members(t)
		delete(now, "web-2")
		if !maps.Equal(now, members) {
			t.Errorf("with the kind again the members of before are %v, want %v", now, members)
		}
	})
}

// awaitBackups waits until these members have their objects, and nobody else.
func (s *set) awaitBackups(t *testing.T, want ...string) {
	t.Helper()
	resource := cluster.Dynamic.Resource(schema.GroupVersionResource{Group: "test.example", Version: "v1", Resource: "backups"}).Namespace(
		s.ns)
	harness.Eventually(t, fmt.Sprintf("there are backups of %v", want), func(ctx context.Context) error {
		list, err := resource.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var got []string
		for _, object := range list.Items {
			spec, _ := object.Object["spec"].(map[string]any)
			got = append(got, fmt.Sprint(spec["of"]))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			return fmt.Errorf("there are those of %v", got)
		}
		return nil
	})
}
