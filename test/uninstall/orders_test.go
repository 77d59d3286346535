//go:build uninstall

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"statefulset.dev/test/harness"
)

// helmOrder is in which order Helm 4 deletes kinds; those that it does not know come last.
const helmOrder = "APIService Service Deployment PodDisruptionBudget RoleBinding Role ClusterRoleBinding ClusterRole PersistentVolumeClaim ConfigMap ServiceAccount Namespace"

// permutations is how many orders are drawn besides those that tools use.
const permutations = 8

func wrongOrders(t *testing.T, w *world) {
	m := w.settle(t, 3)
	all := w.installed(t)
	for name, order := range orders(t, all) {
		t.Run(name, func(t *testing.T) {
			for _, run := range []string{"first run", "second run"} {
				for i, object := range order {
					err := w.delete(t, object)
					if !isGuard(object) && (err == nil || !strings.Contains(err.Error(), "kubectl sts uninstall")) {
						t.Errorf("%s: deleting %s: got %v, want a refusal that names kubectl sts uninstall", run, nameOf(object), err)
					}
					w.follow(t)
					m.mustBeTheSame(t, fmt.Sprintf("%s, after %d deletions, the last of %s", run, i+1, nameOf(object)))
				}
			}
			m.mustStayUnderCollection(t, "at the end")
			w.mustServe(t)
			w.settle(t, 1).mustGoPromptly(t)
			w.restoreGuard(t)
		})
	}
	t.Run("kubectl delete -k, twice", func(t *testing.T) {
		for range 2 {
			if out, err := w.tryKubectl(t, "delete", "--kustomize="+filepath.Join(artifacts, "base")); err == nil {
				t.Errorf("got no error, want refusals: %s", out)
			}
			w.follow(t)
			m.mustStayUnderCollection(t, "after delete -k")
		}
		w.mustServe(t)
		w.restoreGuard(t)
	})
	t.Run("collections", func(t *testing.T) { w.collections(t, m, all) })
	t.Run("an annotation that does not say yes", func(t *testing.T) {
		w.kubectl(t, "annotate", "--overwrite", "apiservice", apiService, "apps.statefulset.dev/allow-delete=no")
		if out, err := w.tryKubectl(t, "delete", "apiservice", apiService); err == nil {
			t.Errorf("got no error, want a refusal: %s", out)
		}
		w.kubectl(t, "annotate", "apiservice", apiService, "apps.statefulset.dev/allow-delete-")
		m.mustBeTheSame(t, "after an annotation that says no")
	})
	t.Run("a server that is gone", func(t *testing.T) { w.withoutServer(t, m) })
	m.mustGoPromptly(t)
}

// withoutServer holds a namespace up, and ends that by what doctor says.
func (w *world) withoutServer(t *testing.T, m *members) {
	hung := w.settle(t, 1)
	w.stop(t)
	w.kubectl(t, "delete", "namespace", hung.Namespace, "--wait=false")
	var said string
	harness.Eventually(t, "doctor names the namespace that hangs", func(context.Context) error {
		said, _ = w.command(t, -1, "doctor")
		if !strings.Contains(said, "wait until apps.statefulset.dev answers again: "+hung.Namespace) ||
			!strings.Contains(said, "kubectl apply -k artifacts/base  # bring the server back") {
			return fmt.Errorf("doctor: %s", said)
		}
		return nil
	})
	m.mustStayUnderCollection(t, "without server")
	w.install(t)
	hung.awaitGone(t)
	m.mustBeTheSame(t, "with the server again")
}

// collections deletes every kind of the installation as a collection.
func (w *world) collections(t *testing.T, m *members, all []*unstructured.Unstructured) {
	for _, object := range all {
		if object.GetKind() == "Namespace" {
			continue // a namespace is never deleted in a collection
		}
		options := metav1.ListOptions{}
		if object.GetNamespace() != system {
			options.FieldSelector = "metadata.name=" + object.GetName()
		}
		plural, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		resources := w.of(object)
		err := resources.DeleteCollection(t.Context(), metav1.DeleteOptions{}, options)
		if !isGuard(object) && err == nil {
			t.Errorf("deleting all %s of namespace %q: got no error, want a refusal", plural.Resource, object.GetNamespace())
		}
		if _, err := resources.Get(t.Context(), object.GetName(), metav1.GetOptions{}); err != nil {
			t.Errorf("%s after a collection was deleted: got %v, want it there", nameOf(object), err)
		}
		w.follow(t)
		m.mustBeTheSame(t, "after the collection of "+plural.Resource)
	}
	m.mustStayUnderCollection(t, "after all collections")
	w.mustServe(t)
	w.restoreGuard(t)
}

// installed is everything that artifacts/base gives a cluster, in kustomize's order.
func (w *world) installed(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(w.kubectl(t, "kustomize", filepath.Join(artifacts, "base")), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("reading what kustomize printed: %v", err)
		}
		// Nothing but the guard can depend on these.
		if group := object.GroupVersionKind().Group; group != "flowcontrol.apiserver.k8s.io" && group != "networking.k8s.io" {
			all = append(all, object)
		}
	}
	return all
}

func orders(t *testing.T, all []*unstructured.Unstructured) map[string][]*unstructured.Unstructured {
	t.Helper()
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	helm := slices.Clone(all)
	known := strings.Fields(helmOrder)
	place := func(o *unstructured.Unstructured) int {
		if i := slices.Index(known, o.GetKind()); i >= 0 {
			return i
		}
		return len(known)
	}
	slices.SortStableFunc(helm, func(a, b *unstructured.Unstructured) int { return cmp.Compare(place(a), place(b)) })
	orders := map[string][]*unstructured.Unstructured{"kustomize's order": all, "kustomize's order reversed": reversed, "Helm's order": helm}
	guardFirst := slices.Clone(all)
	slices.SortStableFunc(guardFirst, func(a, b *unstructured.Unstructured) int { return cmp.Compare(btoi(isGuard(b)), btoi(isGuard(a))) })
	orders["the guard first"] = guardFirst
	for seed := range uint64(permutations) {
		drawn := slices.Clone(all)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		orders[fmt.Sprintf("permutation %d", seed)] = drawn
	}
	return orders
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func isGuard(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == "admissionregistration.k8s.io"
}

func nameOf(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }

// of is the client for objects of an object's kind and namespace.
func (w *world) of(o *unstructured.Unstructured) dynamic.ResourceInterface {
	plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	if o.GetNamespace() != "" {
		return w.Dynamic.Resource(plural).Namespace(o.GetNamespace())
	}
	return w.Dynamic.Resource(plural)
}

func (w *world) delete(t *testing.T, o *unstructured.Unstructured) error {
	t.Helper()
	return w.of(o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{})
}

func (w *world) get(t *testing.T, o *unstructured.Unstructured) error {
	t.Helper()
	_, err := w.of(o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
	return err
}

// versions tells whether any object of the installation was changed.
func (w *world) versions(t *testing.T) string {
	t.Helper()
	var all []string
	for _, o := range w.installed(t) {
		found, err := w.of(o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatalf("getting %s: %v", nameOf(o), err)
		}
		all = append(all, fmt.Sprintf("%s %s %v %v", nameOf(o), found.GetUID(), found.GetAnnotations()["apps.statefulset.dev/allow-delete"],
			found.GetFinalizers()))
	}
	return strings.Join(all, "\n")
}

func (w *world) mustServe(t *testing.T) {
	t.Helper()
	if _, err := w.Sets.AppsV1().StatefulSets("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("listing sets: %v, want them served", err)
	}
}

// restoreGuard does what doctor says about policies that have been deleted.
func (w *world) restoreGuard(t *testing.T) {
	t.Helper()
	said, _ := w.command(t, -1, "doctor")
	remedies := strings.Split(said, "is in force only until its finalizer is removed\n")[1:]
	if len(remedies) == 0 {
		mustBeInForce(t, said)
		return
	}
	for _, remedy := range remedies {
		for command := range strings.Lines(remedy) {
			args, ok := strings.CutPrefix(strings.TrimSpace(command), "kubectl ")
			if !ok {
				break
			}
			args = strings.NewReplacer("'", "", "artifacts/protect", filepath.Join(artifacts, "protect")).Replace(args)
			w.kubectl(t, strings.Fields(args)...)
		}
	}
	said, _ = w.command(t, -1, "doctor")
	mustBeInForce(t, said)
	w.awaitGuard(t)
}

func mustBeInForce(t *testing.T, said string) {
	t.Helper()
	for _, policy := range []string{"statefulset-apiserver-protect", "statefulset-preflight"} {
		if !strings.Contains(said, "policy "+policy+": is in force") {
			t.Fatalf("got from doctor\n%s\nwant that policy %s is in force", said, policy)
		}
	}
}

// awaitGuard waits until the cluster enforces a guard that was applied, which takes it a
// second or so.
func (w *world) awaitGuard(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "the guard is in force", func(context.Context) error {
		if out, err := w.tryKubectl(t, "delete", "--dry-run=server", "apiservice", apiService); err == nil {
			return fmt.Errorf("got no refusal: %s", out)
		}
		return nil
	})
}
