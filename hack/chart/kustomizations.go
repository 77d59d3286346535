// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	header = "# Rendered from artifacts/chart by make generate.\n"
	// guard is the folder of the policies, which can be applied without the rest.
	guard = "protect"
)

// kustomization is a folder of manifests, and the values of the chart to render them with.
type kustomization struct {
	folder, about string
	values        map[string]any
}

func kustomizations() []kustomization {
	with := func(store string) map[string]any {
		return map[string]any{"store": map[string]any{"mode": store}, "namespace": map[string]any{"create": true}}
	}
	return []kustomization{
		{"base", "# One server with an embedded etcd, and all that it needs.\n", with("embedded")},
		{"ha", "# Three servers, which all serve and one of which leads, and three members of their store.\n", with("members")},
	}
}

// addition is an optional file with rights that users apply in addition to a base.
type addition struct {
	// folder is the folder of the file, and template the template of the chart.
	folder, about, template string
	values                  map[string]any
}

func additions() []addition {
	all := []addition{
		{"reclaim", "# The right of the controller to delete claims of removed members, for sets with scaledAfterSeconds.\n", "reclaim/rbac.yaml",
			map[string]any{"reclaim": map[string]any{"claims": true}}}}
	for _, right := range []struct{ value, folder, template, about string }{
		{"gates", "gates", "rbac-options.yaml", "set conditions of pods, for sets with gates"},
		{"inPlace", "in-place", "rbac-options.yaml", "resize pods and set their conditions, for sets that are updated in place"},
		{"eviction", "eviction", "rbac-options.yaml", "evict pods, for sets with spec.disruption.method: Evict"},
		{"reads", "reads", "rbac-reads.yaml", "read objects that warnings need, and objects that the cluster's answers depend on"},
	} {
		alone := map[string]any{"gates": false, "inPlace": false, "eviction": false, "reads": false}
		alone[right.value] = true
		all = append(all,
			addition{"rights/" + right.folder, "# The right of the server to " + right.about + ". base and ha include it.\n", right.template,
				map[string]any{"rights": alone}})
	}
	for _, resource := range []string{"configmaps", "jobs", "secrets", "services"} {
		all = append(all, addition{
			"objects/" + resource, "# The right of the controller to create " + resource + ", for sets with such objectTemplates.\n",
			"objects/rbac.yaml",
			map[string]any{"objects": map[string]any{resource: true}}})
		all = append(all, addition{"objects-delete/" + resource,
			"# The right of the controller to delete " + resource + ", for sets with such objectTemplates and a retention.\n",
			"objects-delete/rbac.yaml",
			map[string]any{"objectsDelete": map[string]any{resource: true}}})
	}
	return all
}

// write replaces the file and its kustomization.
func (a addition) write(artifacts string) error {
	values := kustomizations()[0].values
	maps.Copy(values, a.values)
	files, err := render(filepath.Join(artifacts, "chart"), values)
	if err != nil {
		return err
	}
	folder := filepath.Join(artifacts, a.folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("writing rendered manifests: %w", err)
	}
	for name, text := range map[string]string{
		"kustomization.yaml": a.about + "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- rbac.yaml\n",
		"rbac.yaml":          strings.TrimPrefix(files[a.template], "---\n"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(header+text), 0o644); err != nil {
			return fmt.Errorf("writing rendered manifests: %w", err)
		}
	}
	return nil
}

// order returns the order in which the files can be applied one by one.
func order() []string {
	return []string{
		"namespace.yaml", "quota.yaml", "serviceaccount.yaml",
		"rbac-apiserver.yaml", "rbac-reads.yaml", "rbac-options.yaml", "rbac-controller.yaml", "rbac-store-note.yaml",
		"rbac-certificates.yaml", "rbac-etcd.yaml",
		"preflight.yaml", "../" + guard, "rbac-users.yaml", "flowschemas.yaml", "networkpolicy.yaml", "service.yaml",
		"certificate.yaml", "serving-authority.yaml", "storage.yaml", "etcd.yaml", "poddisruptionbudget.yaml", "deployment.yaml",
		"apiservice.yaml",
	}
}

// write replaces the files in the folder. All kustomizations share the guard.
func (k kustomization) write(artifacts string, files map[string]string) error {
	resources, err := k.resources(files)
	if err != nil {
		return err
	}
	files["kustomization.yaml"] = k.about + "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- " +
		strings.Join(resources, "\n- ") + "\n"
	old, err := filepath.Glob(filepath.Join(artifacts, k.folder, "*.yaml"))
	if err != nil {
		return fmt.Errorf("listing %s: %w", k.folder, err)
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing earlier manifests: %w", err)
		}
	}
	for name, text := range files {
		target := filepath.Join(artifacts, k.folder, name)
		if path.Dir(name) == guard {
			target = filepath.Join(artifacts, name)
		}
		if err := os.WriteFile(target, []byte(header+strings.TrimPrefix(text, "---\n")), 0o644); err != nil {
			return fmt.Errorf("writing rendered manifests: %w", err)
		}
	}
	return nil
}

// resources lists the files in order. A file that has no place in the order is an error.
func (k kustomization) resources(files map[string]string) ([]string, error) {
	names := order()
	var found []string
	for name := range files {
		if path.Dir(name) == guard {
			name = "../" + guard
		}
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("template %s has no place in the order of manifests", name)
		}
		found = append(found, name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(found, name) }), nil
}
