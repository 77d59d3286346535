// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestKustomizeKnowsFieldsThatOnlyOurKindHas changes one thing at a time, and compares the whole set with what it should be.
func TestKustomizeKnowsFieldsThatOnlyOurKindHas(t *testing.T) {
	for _, c := range []struct {
		name, kustomization, patch string
		// want changes the set as it was to the set as it should be.
		want map[string]any
	}{
		{
			name:          "references in overrides and in objects",
			kustomization: "namePrefix: blue-\n",
			want: map[string]any{
				"metadata.name": "blue-db",
				"spec.overrides.0.containers.0.env.0.valueFrom.secretKeyRef.name":                        "blue-password",
				"spec.overrides.0.volumeClaims.0.storageClassName":                                       "blue-fast",
				"spec.objectTemplates.1.object.spec.template.spec.containers.0.envFrom.0.secretRef.name": "blue-password",
			},
		},
		{
			name:          "labels: neither of overrides, nor in selectors of objects",
			kustomization: "labels:\n- includeSelectors: true\n  pairs:\n    team: storage\n",
			want: map[string]any{
				"metadata.labels.team":                               "storage",
				"spec.selector.matchLabels.team":                     "storage",
				"spec.template.metadata.labels.team":                 "storage",
				"spec.objectTemplates.0.object.metadata.labels.team": "storage",
				"spec.objectTemplates.1.object.metadata.labels.team": "storage",
			},
		},
		{
			name:          "annotations",
			kustomization: "commonAnnotations:\n  team: storage\n",
			want: map[string]any{
				"metadata.annotations.team":                               "storage",
				"spec.template.metadata.annotations.team":                 "storage",
				"spec.objectTemplates.0.object.metadata.annotations.team": "storage",
				"spec.objectTemplates.1.object.metadata.annotations.team": "storage",
			},
		},
		{
			name:          "images of overrides and of objects",
			kustomization: "images:\n- name: example.com/db\n  newTag: \"2\"\n",
			want: map[string]any{
				"spec.overrides.0.containers.0.image":                                 "example.com/db:2",
				"spec.objectTemplates.1.object.spec.template.spec.containers.0.image": "example.com/db:2",
				"spec.template.spec.containers.0.image":                               "example.com/db:2",
			},
		},
		{
			name:          "patch of an override",
			kustomization: "patches:\n- path: patch.yaml\n",
			patch: "  overrides:\n  - name: first\n    containers:\n    - name: db\n" +
				"      env:\n      - name: PASSWORD\n        value: trout\n",
			want: map[string]any{"spec.overrides.0.containers.0.env.0.value": "trout"},
		},
		{
			name:          "patch of an object",
			kustomization: "patches:\n- path: patch.yaml\n",
			patch:         "  objectTemplates:\n  - name: entry\n    object:\n      spec:\n        type: LoadBalancer\n",
			want:          map[string]any{"spec.objectTemplates.0.object.spec.type": "LoadBalancer"},
		},
		{
			name:          "patch of reserved ordinals",
			kustomization: "patches:\n- path: patch.yaml\n",
			patch:         "  ordinals:\n    reserved:\n    - first: 3\n      last: 5\n",
			want:          map[string]any{"spec.ordinals.reserved.0.last": 5},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tree{
				"app/own.yaml":           read(t, "testdata/own.yaml"),
				"app/kustomization.yaml": "resources:\n- own.yaml\n" + useComponent + c.kustomization,
				"app/patch.yaml":         ours + "\nmetadata:\n  name: db\nspec:\n" + c.patch,
			}
			want := setIn(t, read(t, "testdata/own.yaml"))
			for path, value := range c.want {
				put(t, want, path, value)
			}
			if diff := cmp.Diff(text(t, want), text(t, setIn(t, build(t, files)))); diff != "" {
				t.Errorf("the set differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestASetWithoutObjectsGetsNone is about rows that create what is missing.
func TestASetWithoutObjectsGetsNone(t *testing.T) {
	c := one(t, "", "\n"+useComponent+"commonAnnotations:\n  team: storage\nlabels:\n- includeSelectors: true\n  pairs:\n    team: storage\n")
	spec, _ := setIn(t, build(t, c.files.ofOurs()))["spec"].(map[string]any)
	if got, ok := spec["objectTemplates"]; ok {
		t.Errorf("spec.objectTemplates: got %v, want none", got)
	}
}

// TestLabelsOfClaimTemplatesByField is the way of docs/gitops.md to label claims, which works in each version of kustomize.
func TestLabelsOfClaimTemplatesByField(t *testing.T) {
	c := one(t, "", "\n"+useComponent+`labels:
- includeTemplates: true
  pairs:
    team: storage
  fields:
  - path: spec/volumeClaimTemplates[]/metadata/labels
    group: apps.statefulset.dev
    kind: StatefulSet
    create: true
`)
	set := setIn(t, build(t, c.files.ofOurs()))
	if got := at(t, set, "spec.volumeClaimTemplates.0.metadata.labels.team"); got != "storage" {
		t.Errorf("label team of the claim template: got %v, want storage", got)
	}
	if got := at(t, set, "spec.selector.matchLabels.app"); got != "db" {
		t.Errorf("label app of the selector: got %v, want db", got)
	}
}

func text(t *testing.T, value any) string {
	t.Helper()
	content, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
