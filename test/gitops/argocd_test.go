//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/util/proto"
)

const argo = "argocd-controller"

// TestArgoCDSeesNoDifferenceInQuantitiesWithOurSettings is about Argo CD's own comparison, which formats the quantities of
// kinds that are compiled into it, and of fields whose types artifacts/argocd/argocd-cm.yaml names.
func TestArgoCDSeesNoDifferenceInQuantitiesWithOurSettings(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		manifest := s.set(t, namespace, first)
		if s.name == "ours" {
			override(t, manifest)
		}
		suite.MustKubectl(t, asYAML(t, manifest), "apply", "--filename=-")
		live := s.live(t, namespace)
		if got, want := differs(t, manifest, live), choose(s, false, true); got != want {
			t.Errorf("without settings, the set is out of sync: got %t, want %t", got, want)
		}
		if differs(t, manifest, live, diff.WithNormalizer(shippedTypes(t))) {
			t.Errorf("with the settings, the set is out of sync: got true, want false")
		}
		s.patch(t, namespace, otherImage)
		if !differs(t, manifest, s.live(t, namespace), diff.WithNormalizer(shippedTypes(t))) {
			t.Errorf("with the settings and another image, the set is out of sync: got false, want true")
		}
	})
}

// override adds an override with quantities.
func override(t *testing.T, set *unstructured.Unstructured) {
	t.Helper()
	overrides := []any{map[string]any{
		"name": "first", "ordinals": []any{map[string]any{"first": int64(0)}},
		"containers": []any{map[string]any{
			"name": "main", "resources": map[string]any{"requests": map[string]any{"cpu": "500m", "memory": "1024Mi"}},
		}},
		"volumeClaims": []any{map[string]any{"name": "data", "storage": "2048Mi"}},
	}}
	if err := unstructured.SetNestedSlice(set.Object, overrides, "spec", "overrides"); err != nil {
		t.Fatal(err)
	}
}

// TestArgoCDReportsContainersOfOthersInOurKind is Argo CD's own comparison again, which compares the lists of kinds that are not
// compiled into it as a whole.
func TestArgoCDReportsContainersOfOthersInOurKind(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		manifest := s.set(t, namespace, first)
		suite.MustKubectl(t, asYAML(t, manifest), "apply", "--filename=-")
		s.patch(t, namespace, sidecar)
		if got, want := differs(t, manifest, s.live(t, namespace), diff.WithNormalizer(shippedTypes(t))), choose(s, false, true); got != want {
			t.Errorf("after another client added a container, the set is out of sync: got %t, want %t", got, want)
		}
	})
}

// TestArgoCDsServerSideDiffComparesBothKindsAlike is Argo CD with the option ServerSideDiff=true.
func TestArgoCDsServerSideDiffComparesBothKindsAlike(t *testing.T) {
	parser := definitions(t)
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		options := []diff.Option{
			diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(dryRunner{s}), diff.WithGVKParser(parser), diff.WithManager(argo),
		}
		manifest := s.set(t, namespace, first)
		suite.MustKubectl(t, asYAML(t, manifest), "apply", "--server-side", "--field-manager="+argo, "--filename=-")
		if differs(t, manifest, s.live(t, namespace), options...) {
			t.Errorf("the set is out of sync: got true, want false")
		}
		s.patch(t, namespace, sidecar)
		if differs(t, manifest, s.live(t, namespace), options...) {
			t.Errorf("after another client added a container, the set is out of sync: got true, want false")
		}
		s.patch(t, namespace, otherImage)
		if !differs(t, manifest, s.live(t, namespace), options...) {
			t.Errorf("with another image, the set is out of sync: got false, want true")
		}
	})
}

func differs(t *testing.T, manifest, live *unstructured.Unstructured, options ...diff.Option) bool {
	t.Helper()
	result, err := diff.Diff(manifest, live, append(options, diff.WithLogr(logr.Discard()))...)
	if err != nil {
		t.Fatalf("comparing: %v", err)
	}
	return result.Modified
}

// dryRunner asks the server, as Argo CD does.
type dryRunner struct{ side }

func (d dryRunner) Run(ctx context.Context, set *unstructured.Unstructured, manager string) (string, error) {
	predicted, err := suite.Dynamic.Resource(d.resource()).Namespace(set.GetNamespace()).Apply(ctx, set.GetName(), set,
		metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return "", fmt.Errorf("applying in a dry run: %w", err)
	}
	content, err := json.Marshal(predicted)
	return string(content), err
}

// definitions are those that the cluster publishes.
func definitions(t *testing.T) *managedfields.GvkParser {
	t.Helper()
	document, err := suite.Host.Discovery().OpenAPISchema()
	if err != nil {
		t.Fatalf("reading the published document: %v", err)
	}
	models, err := proto.NewOpenAPIData(document)
	if err != nil {
		t.Fatalf("parsing the published document: %v", err)
	}
	parser, err := managedfields.NewGVKParser(models, false)
	if err != nil {
		t.Fatalf("reading the published types: %v", err)
	}
	return parser
}
