//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// knownTypes formats fields as Argo CD does: util/argo/normalizers/knowntypes_normalizer.go of argo-cd v3.4.13, a package that
// does not build with the Kubernetes libraries of this module.
type knownTypes []struct{ Field, Type string }

// shippedTypes are the fields that artifacts/argocd/argocd-cm.yaml names.
func shippedTypes(t *testing.T) knownTypes {
	t.Helper()
	content, err := os.ReadFile("../../artifacts/argocd/argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var configMap struct{ Data map[string]string }
	if err := yaml.Unmarshal(content, &configMap); err != nil {
		t.Fatal(err)
	}
	var fields knownTypes
	key := "resource.customizations.knownTypeFields.apps.statefulset.dev_StatefulSet"
	if err := yaml.Unmarshal([]byte(configMap.Data[key]), &fields); err != nil || len(fields) == 0 {
		t.Fatalf("reading %s: %v, found %d fields", key, err, len(fields))
	}
	return fields
}

func (k knownTypes) Normalize(set *unstructured.Unstructured) error {
	if set.GroupVersionKind().Group != "apps.statefulset.dev" {
		return nil
	}
	for _, known := range k {
		if err := format(set.Object, strings.Split(known.Field, "."), known.Type); err != nil {
			return fmt.Errorf("formatting %s: %w", known.Field, err)
		}
	}
	return nil
}

// format replaces what is at a path by what Go's type makes of it, in each item of lists on the way.
func format(value any, path []string, as string) error {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if err := format(item, path, as); err != nil {
				return err
			}
		}
	case map[string]any:
		field, ok := v[path[0]]
		if !ok {
			return nil
		}
		if len(path) > 1 {
			return format(field, path[1:], as)
		}
		formatted, err := formattedAs(field, as)
		v[path[0]] = formatted
		return err
	}
	return nil
}

func formattedAs(value any, as string) (any, error) {
	types := map[string]any{
		"core/v1/PodSpec":                   &corev1.PodSpec{},
		"core/v1/PersistentVolumeClaimSpec": &corev1.PersistentVolumeClaimSpec{},
		"core/v1/ResourceRequirements":      &corev1.ResourceRequirements{},
		"core/Quantity":                     &resource.Quantity{},
	}
	typed, ok := types[as]
	if !ok {
		return nil, fmt.Errorf("there is no type %s", as)
	}
	content, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, typed); err != nil {
		return nil, err
	}
	if content, err = json.Marshal(typed); err != nil {
		return nil, err
	}
	var formatted any
	err = json.Unmarshal(content, &formatted)
	return formatted, err
}
