//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestFluxMergesAndComparesBothKindsAlike applies and compares as the kustomize-controller does. Flux converts kinds that are
// compiled into it before that, and leaves ours to the server.
func TestFluxMergesAndComparesBothKindsAlike(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		flux := newFlux(t)
		flux.apply(t, s.set(t, namespace, first), ssa.CreatedAction)
		flux.compare(t, s.set(t, namespace, first), ssa.UnchangedAction)

		s.patch(t, namespace, sidecar)
		flux.compare(t, s.set(t, namespace, first), ssa.UnchangedAction)
		flux.apply(t, s.set(t, namespace, second), ssa.ConfiguredAction)
		if got := containers(t, s.live(t, namespace)); got != withSidecar {
			t.Errorf("containers after another client added one: got %s, want %s", got, withSidecar)
		}

		s.patch(t, namespace, slower)
		flux.compare(t, s.set(t, namespace, second), ssa.ConfiguredAction)
		flux.apply(t, s.set(t, namespace, second), ssa.ConfiguredAction)
		if got := minReady(t, s.live(t, namespace)); got != 5 {
			t.Errorf("minReadySeconds after Flux corrected it: got %d, want 5", got)
		}
		flux.compare(t, s.set(t, namespace, second), ssa.UnchangedAction)
	})
}

type flux struct{ manager *ssa.ResourceManager }

func newFlux(t *testing.T) flux {
	t.Helper()
	c, err := client.New(suite.Config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatalf("creating the client: %v", err)
	}
	return flux{ssa.NewResourceManager(c, nil, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})}
}

func normalized(t *testing.T, set *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if err := normalize.Unstructured(set); err != nil {
		t.Fatalf("normalizing: %v", err)
	}
	return set
}

func (f flux) apply(t *testing.T, set *unstructured.Unstructured, want ssa.Action) {
	t.Helper()
	entry, err := f.manager.Apply(t.Context(), normalized(t, set), ssa.DefaultApplyOptions())
	if err != nil {
		t.Fatalf("applying: %v", err)
	}
	if entry.Action != want {
		t.Errorf("applying: got %s, want %s", entry.Action, want)
	}
}

func (f flux) compare(t *testing.T, set *unstructured.Unstructured, want ssa.Action) {
	t.Helper()
	entry, _, _, err := f.manager.Diff(t.Context(), normalized(t, set), ssa.DefaultDiffOptions())
	if err != nil {
		t.Fatalf("comparing: %v", err)
	}
	if entry.Action != want {
		t.Errorf("comparing: got %s, want %s", entry.Action, want)
	}
}
