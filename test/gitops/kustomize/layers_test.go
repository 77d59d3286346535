// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	overlay = `resources:
- ../base
namePrefix: blue-
labels:
- includeSelectors: true
  pairs:
    color: blue
patches:
- path: patch.yaml
`
	imagePatch = `
metadata:
  name: db
spec:
  template:
    spec:
      containers:
      - name: db
        image: example.com/db:2
`
)

// layerCases are kustomizations on top of others.
func layerCases(t *testing.T) []kustomizeCase {
	layers := tree{
		"base/app.yaml":           read(t, "testdata/app.yaml"),
		"base/kustomization.yaml": "resources:\n- app.yaml\nlabels:\n- includeSelectors: true\n  pairs:\n    team: storage\n",
		"app/kustomization.yaml":  overlay,
		"app/patch.yaml":          builtin + imagePatch,
	}
	plainBase := layers.with(nil)
	plainBase["base/kustomization.yaml"] = "resources:\n- app.yaml\n"
	return []kustomizeCase{
		{name: "component in the base", files: layers, component: "base/kustomization.yaml"},
		{name: "component in the overlay of a base that only lists files", files: plainBase},
	}
}

// TestTheComponentMayBeListedTwice lists it in a base and in the overlay.
func TestTheComponentMayBeListedTwice(t *testing.T) {
	c := layerCases(t)[0]
	twice := tree{"base/kustomization.yaml": useComponent, "app/kustomization.yaml": useComponent}
	if diff := cmp.Diff(build(t, c.files), buildAsBuiltin(t, c.files.with(twice))); diff != "" {
		t.Errorf("our kind differs from the built-in (-want +got):\n%s", diff)
	}
}

// TestAComponentOfTheUserMergesToo lists our component before one that patches the set.
func TestAComponentOfTheUserMergesToo(t *testing.T) {
	files := one(t, "", "\ncomponents:\n- ../component\n- ../sidecar\n").files
	files["sidecar/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: patch.yaml\n"
	files["sidecar/patch.yaml"] = builtin + imagePatch
	if diff := cmp.Diff(build(t, files), buildAsBuiltin(t, files)); diff != "" {
		t.Errorf("our kind differs from the built-in (-want +got):\n%s", diff)
	}
}

// TestOtherKindsMergeWhereOnlyComponentsAreListed is about the definitions that are compiled into kustomize: it does not read
// them if it loads a schema before the first object.
func TestOtherKindsMergeWhereOnlyComponentsAreListed(t *testing.T) {
	deployment := strings.ReplaceAll(read(t, "testdata/app.yaml"), "kind: StatefulSet", "kind: Deployment")
	files := tree{
		"app/kustomization.yaml":      "components:\n- ../workload\npatches:\n- path: patch.yaml\n",
		"app/patch.yaml":              "apiVersion: apps/v1\nkind: Deployment" + imagePatch,
		"workload/app.yaml":           deployment,
		"workload/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n- app.yaml\n",
	}
	want := build(t, files)
	files["app/kustomization.yaml"] = "components:\n- ../component\n- ../workload\npatches:\n- path: patch.yaml\n"
	if diff := cmp.Diff(want, build(t, files)); diff != "" {
		t.Errorf("the component changes how a Deployment is patched (-want +got):\n%s", diff)
	}
}

// TestASchemaOfTheUserTakesThePlaceOfOurs shows why docs/gitops.md has users merge the definitions: of several schemas,
// kustomize reads one, and that of the directory that is built comes first.
func TestASchemaOfTheUserTakesThePlaceOfOurs(t *testing.T) {
	c := podPatch(t, "", "\n      containers:\n      - name: db\n        image: example.com/db:2\n")
	want := build(t, c.files)
	files := c.files.with(tree{"app/kustomization.yaml": useComponent + "openapi:\n  path: schema.json\n"})
	files["app/schema.json"] = `{"swagger": "2.0", "definitions": {}}`
	if got := buildAsBuiltin(t, files); got == want {
		t.Error("with an empty schema of the user, our kind is still merged by ours: correct docs/gitops.md")
	}
	files["app/schema.json"] = read(t, componentDir+"/schema.json")
	if diff := cmp.Diff(want, buildAsBuiltin(t, files)); diff != "" {
		t.Errorf("with our definitions in the user's schema, our kind differs from the built-in (-want +got):\n%s", diff)
	}
}
