// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

const resource = "statefulsets"

// builtIn is the kind that the commands of kubectl know.
func builtIn() schema.GroupKind { return appsv1.SchemeGroupVersion.WithKind(v1.Kind).GroupKind() }

func ours() schema.GroupKind { return v1.GroupVersionKind().GroupKind() }

// meansOurs reports whether a word without a group means the built-in kind in kubectl and our kind
// in the plugin. The server itself knows our own short name.
func meansOurs(word string) bool {
	return slices.Contains([]string{"sts", "statefulset", resource}, word)
}

// asBuiltIn returns a set with the fields that apps/v1 has.
func asBuiltIn(set *v1.StatefulSet) (*appsv1.StatefulSet, error) {
	document, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encoding StatefulSet %q: %w", set.Name, err)
	}
	known := &appsv1.StatefulSet{}
	if err := json.Unmarshal(document, known); err != nil {
		return nil, fmt.Errorf("reading StatefulSet %q as apps/v1: %w", set.Name, err)
	}
	known.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(v1.Kind))
	return known, nil
}
