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

// objects returns the manifests with the image, in the order in which they can be applied.
func objects(image string, single bool) ([]*unstructured.Unstructured, error) {
	folder := "ha"
	if single {
		folder = "base"
	}
	all, err := read(artifacts.Manifests, folder)
	if err != nil {
		return nil, err
	}
	for _, object := range all {
		if kind := object.GetKind(); kind != "Deployment" && kind != "StatefulSet" {
			continue
		}
		if err := setImage(object, image); err != nil {
			return nil, fmt.Errorf("setting the image of the %s: %w", object.GetKind(), err)
		}
	}
	return all, nil
}

func setImage(object *unstructured.Unstructured, image string) error {
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(object.Object, path...)
	if err != nil {
		return err
	}
	if len(containers) != 1 {
		return fmt.Errorf("the manifests have %d containers, want one", len(containers))
	}
	container, _ := containers[0].(map[string]any)
	container["image"] = image
	return unstructured.SetNestedSlice(object.Object, containers, path...)
}

// read reads the manifests of a kustomization that only lists resources.
func read(from fs.FS, folder string) ([]*unstructured.Unstructured, error) {
	var kustomization struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Resources  []string `json:"resources"`
	}
	content, err := fs.ReadFile(from, path.Join(folder, "kustomization.yaml"))
	if err == nil {
		// Strict, because read would ignore other fields of a kustomization.
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
