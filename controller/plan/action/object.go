// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// CreateObject creates an object beside the pods. One that has its name is left as it is.
type CreateObject struct {
	// Ordinal is that of the member whose object it is, below 0 if it is the set's.
	Ordinal int
	// Template names the template that it is made from.
	Template string
	Object   *unstructured.Unstructured
	// Generate are the keys for which random texts are drawn when it is created, and not before: they
	// are in no plan.
	Generate []v1.GeneratedKey
}

// ApplyObject changes an object that exists into what its template describes. What others have set
// and the template does not mention stays.
type ApplyObject struct {
	Ordinal  int
	Template string
	At       Target
	Object   *unstructured.Unstructured
	// Why says what is wrong with the object. Corrects is true if that is only that somebody has
	// changed it.
	Why      string
	Corrects bool
}

func (a CreateObject) String() string {
	if len(a.Generate) == 0 {
		return "create " + ObjectText(a.Object)
	}
	return fmt.Sprintf("create %s, drawing %s", ObjectText(a.Object), KeysText(a.Generate))
}

func (a ApplyObject) String() string { return "change " + ObjectText(a.Object) }

func (CreateObject) action() {}
func (ApplyObject) action()  {}

// ObjectText names an object with its kind.
func ObjectText(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// ObjectKey is the key of an object in a world.
func ObjectKey(object *unstructured.Unstructured) identity.ObjectKey {
	kind := object.GroupVersionKind()
	return identity.ObjectKey{Group: kind.Group, Kind: kind.Kind, Name: object.GetName()}
}

// KeysText names keys of which texts are drawn.
func KeysText(keys []v1.GeneratedKey) string {
	names := KeyNames(keys)
	return words.Plural("key", len(names)) + " " + strings.Join(names, ", ")
}

// KeyNames are the names of such keys.
func KeyNames(keys []v1.GeneratedKey) []string {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, key.Key)
	}
	return names
}
