// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKustomizeTreatsBothKindsAlike builds each case for the built-in kind and for ours with the component, and compares
// all but the API versions.
func TestKustomizeTreatsBothKindsAlike(t *testing.T) {
	for _, c := range kustomizeCases(t) {
		t.Run(c.name, func(t *testing.T) {
			want := build(t, c.files)
			component := tree{c.componentIn(): useComponent}
			if diff := cmp.Diff(c.expected(want), buildAsBuiltin(t, c.files.with(component))); diff != "" {
				t.Errorf("with the component, our kind differs from the built-in (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, build(t, c.files.with(component))); diff != "" {
				t.Errorf("the component changes the built-in kind (-want +got):\n%s", diff)
			}
			alike := want == buildAsBuiltin(t, c.files)
			if alike != c.alikeAnyway {
				t.Errorf("without the component, our kind is treated like the built-in: got %t, want %t", alike, c.alikeAnyway)
			}
		})
	}
}

// kustomizeCase is a kustomization in the directory app.
type kustomizeCase struct {
	name  string
	files tree
	// component is the kustomization that names the component, if it is not the one in app.
	component string
	// unlike is what kustomize before api v0.21.2 does to the built-in kind, and neither a later one to it nor the
	// component to ours.
	unlike string
	// alikeAnyway is true if kustomize has no list of built-in kinds for this.
	alikeAnyway bool
}

func (c kustomizeCase) componentIn() string {
	if c.component != "" {
		return c.component
	}
	return "app/kustomization.yaml"
}

// expected is the output for our kind, from that for the built-in.
func (c kustomizeCase) expected(want string) string {
	if c.unlike == "" {
		return want
	}
	return strings.Replace(want, c.unlike, "", 1)
}

// one is a case of one directory: the application, and a kustomization that does something to it.
func one(t *testing.T, name, kustomization string) kustomizeCase {
	t.Helper()
	return kustomizeCase{name: name, files: tree{
		"app/app.yaml":           read(t, "testdata/app.yaml"),
		"app/kustomization.yaml": "resources:\n- app.yaml" + kustomization,
	}}
}

func (c kustomizeCase) anyway() kustomizeCase {
	c.alikeAnyway = true
	return c
}

func kustomizeCases(t *testing.T) []kustomizeCase {
	return append(transformerCases(t), append(patchCases(t), layerCases(t)...)...)
}
