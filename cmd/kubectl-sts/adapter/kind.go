// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"fmt"
	"slices"

	apps "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appsv1 "statefulset.dev/api/apps/v1"
)

const resource = "statefulsets"

// builtIn is the kind that the commands of kubectl know.
func builtIn() schema.GroupKind { return apps.SchemeGroupVersion.WithKind(appsv1.Kind).GroupKind() }

func ours() schema.GroupKind { return appsv1.GroupVersionKind().GroupKind() }

// meansOurs tells the words that, without a group, name the built-in kind in kubectl, and ours in the plugin. Our own
// short name is known to the server.
func meansOurs(word string) bool {
	return slices.Contains([]string{"sts", "statefulset", resource}, word)
}

// asBuiltIn returns what apps/v1 knows of a set.
func asBuiltIn(set *appsv1.StatefulSet) (*apps.StatefulSet, error) {
	document, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encoding StatefulSet %q: %w", set.Name, err)
	}
	known := &apps.StatefulSet{}
	if err := json.Unmarshal(document, known); err != nil {
		return nil, fmt.Errorf("reading StatefulSet %q as apps/v1: %w", set.Name, err)
	}
	known.SetGroupVersionKind(apps.SchemeGroupVersion.WithKind(appsv1.Kind))
	return known, nil
}
