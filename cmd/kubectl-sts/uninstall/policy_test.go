// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const artifacts = "../../../artifacts"

// Every object that an installation gets has a place here, and the guard refuses to delete
// it.
func TestTheGuardCoversEverythingThatIsInstalled(t *testing.T) {
	g := readGuard(t)
	known := map[string]bool{}
	for _, o := range slices.Concat(removed(), staying()) {
		known[o.kind.Resource+" "+namespaceIn(o)+" "+o.name] = true
	}
	manifests := read(t, "base")
	manifests = append(manifests, read(t, "ha")...)
	for _, manifest := range manifests {
		resource := resourceOf(manifest)
		name := resource + " " + manifest.GetNamespace() + " " + manifest.GetName()
		if !known[name] {
			t.Errorf("%s is in artifacts and in neither list of this package: add it", name)
		}
		if manifest.GroupVersionKind().Group == "admissionregistration.k8s.io" {
			if !slices.Contains(manifest.GetFinalizers(), finalizer) {
				t.Errorf("%s: got finalizers %q, want %s: no policy covers it", name, manifest.GetFinalizers(), finalizer)
			}
			continue
		}
		// What has no part in serving, and may go: priority among requests, and the network's rules.
		if group := manifest.GroupVersionKind().Group; group == "flowcontrol.apiserver.k8s.io" || group == "networking.k8s.io" {
			continue
		}
		if !g.matches(t, manifest, nil) {
			t.Errorf("%s: the guard lets it be deleted, want it refused", name)
		}
	}
}

func TestWhatTheGuardAllows(t *testing.T) {
	g := readGuard(t)
	service := func(namespace, name string, annotations map[string]string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service"}}
		u.SetNamespace(namespace)
		u.SetName(name)
		u.SetAnnotations(annotations)
		return u
	}
	for sentence, c := range map[string]struct {
		object    *unstructured.Unstructured
		namespace map[string]any
		refused   bool
	}{
		"the server's service":                     {service("statefulset-system", serverName, nil), nil, true},
		"one with another annotation":              {service("statefulset-system", serverName, map[string]string{"a": "yes"}), nil, true},
		"one whose deletion is denied":             {service("statefulset-system", serverName, map[string]string{allowDelete: "no"}), nil, true},
		"one that says nothing about its deletion": {service("statefulset-system", serverName, map[string]string{allowDelete: ""}), nil, true},
		"one that says Yes":                        {service("statefulset-system", serverName, map[string]string{allowDelete: "Yes"}), nil, true},
		"one whose deletion is allowed": {
			service("statefulset-system", serverName, map[string]string{allowDelete: "yes"}), nil, false},
		"one in a namespace that is being deleted": {
			service("statefulset-system", serverName, nil), map[string]any{"metadata": map[string]any{"deletionTimestamp": "now"}}, false},
		"one in a namespace that is not": {service("statefulset-system", serverName, nil), map[string]any{"metadata": map[string]any{}}, true},
		"one of another name":            {service("statefulset-system", "other", nil), nil, false},
		"one of the name in kube-system": {service("kube-system", serverName, nil), nil, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := g.matches(t, c.object, c.namespace); got != c.refused {
				t.Errorf("refused: got %t, want %t", got, c.refused)
			}
		})
	}
}

// guardPolicy evaluates the policy's expressions as the cluster does for a collection, which
// gives no name.
type guardPolicy struct{ condition, validation cel.Program }

func readGuard(t *testing.T) guardPolicy {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(artifacts, "protect", "policy.yaml"))
	if err != nil {
		t.Fatalf("reading the guard: %v", err)
	}
	first, _, _ := strings.Cut(string(content), "\n---\n")
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := yaml.UnmarshalStrict([]byte(first), policy); err != nil {
		t.Fatalf("reading the guard: %v", err)
	}
	for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
		if len(rule.ResourceNames) > 0 {
			t.Errorf("got resourceNames %q, want none: a collection has no name", rule.ResourceNames)
		}
	}
	env, err := cel.NewEnv(cel.Variable("oldObject", cel.DynType), cel.Variable("request", cel.DynType),
		cel.Variable("namespaceObject", cel.DynType))
	if err != nil {
		t.Fatalf("preparing CEL: %v", err)
	}
	compile := func(expression string) cel.Program {
		ast, issues := env.Compile(expression)
		if issues.Err() != nil {
			t.Fatalf("compiling %s: %v", expression, issues.Err())
		}
		program, err := env.Program(ast)
		if err != nil {
			t.Fatalf("compiling %s: %v", expression, err)
		}
		return program
	}
	return guardPolicy{compile(policy.Spec.MatchConditions[0].Expression), compile(policy.Spec.Validations[0].Expression)}
}

// matches reports whether the guard refuses to delete an object.
func (g guardPolicy) matches(t *testing.T, object *unstructured.Unstructured, namespace map[string]any) bool {
	t.Helper()
	input := map[string]any{
		"oldObject": object.Object,
		"request": map[string]any{
			"name": "", "namespace": object.GetNamespace(), "resource": map[string]any{"resource": resourceOf(object)}},
		"namespaceObject": namespace,
	}
	if namespace == nil {
		input["namespaceObject"] = nil
	}
	evaluate := func(program cel.Program) bool {
		value, _, err := program.Eval(input)
		if err != nil {
			t.Fatalf("evaluating for %s %s: %v", object.GetKind(), object.GetName(), err)
		}
		return value.Value().(bool)
	}
	return evaluate(g.condition) && !evaluate(g.validation)
}

func resourceOf(object *unstructured.Unstructured) string {
	plural, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	return plural.Resource
}

// read returns the objects of a kustomization, and of those that it includes.
func read(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	content, err := os.ReadFile(filepath.Join(artifacts, folder, "kustomization.yaml"))
	if err == nil {
		err = yaml.Unmarshal(content, &kustomization)
	}
	if err != nil {
		t.Fatalf("reading artifacts/%s: %v", folder, err)
	}
	var all []*unstructured.Unstructured
	for _, name := range kustomization.Resources {
		if filepath.Ext(name) != ".yaml" {
			all = append(all, read(t, filepath.Join(folder, name))...)
			continue
		}
		content, err := os.ReadFile(filepath.Join(artifacts, folder, name))
		if err != nil {
			t.Fatalf("reading the manifests: %v", err)
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				t.Fatalf("reading %s: %v", name, err)
			}
			all = append(all, object)
		}
	}
	return all
}
