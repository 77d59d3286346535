// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"statefulset.dev/artifacts"
)

const (
	namespace  = "statefulset-system"
	serverName = "statefulset-apiserver"
)

// objects are the manifests, in the order in which they can be applied, with the image.
func objects(image string) ([]*unstructured.Unstructured, error) {
	all, err := read(artifacts.Manifests, "base")
	if err != nil {
		return nil, err
	}
	for _, object := range all {
		if object.GetKind() != "Deployment" {
			continue
		}
		containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if err != nil {
			return nil, fmt.Errorf("reading the containers of the Deployment: %w", err)
		}
		if len(containers) != 1 {
			return nil, fmt.Errorf("the Deployment in the manifests has %d containers, want one", len(containers))
		}
		container, _ := containers[0].(map[string]any)
		container["image"] = image
		if err := unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers"); err != nil {
			return nil, fmt.Errorf("setting the image: %w", err)
		}
	}
	return all, nil
}

// read follows a kustomization that only lists resources.
func read(from fs.FS, folder string) ([]*unstructured.Unstructured, error) {
	var kustomization struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Resources  []string `json:"resources"`
	}
	content, err := fs.ReadFile(from, path.Join(folder, "kustomization.yaml"))
	if err == nil {
		// Strict: what else a kustomization may have would be left out.
		err = yaml.UnmarshalStrict(content, &kustomization)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the kustomization of %s: %w", folder, err)
	}
	var all []*unstructured.Unstructured
	for _, name := range kustomization.Resources {
		if path.Ext(name) != ".yaml" {
			more, err := read(from, path.Join(folder, name))
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
			continue
		}
		content, err := fs.ReadFile(from, path.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("reading the manifests: %w", err)
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
			all = append(all, object)
		}
	}
	return all, nil
}
