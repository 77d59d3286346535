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

// CreateObject creates a supporting object. An existing object of that name stays unchanged.
type CreateObject struct {
	// Ordinal is that of the member to which the object belongs, below 0 if it belongs to the
	// set.
	Ordinal int
	// Template names the template from which the object is created.
	Template string
	Object   *unstructured.Unstructured
	// Generate are the keys for which random values are generated, only when the object is
	// created: no plan contains the values.
	Generate []v1.GeneratedKey
}

// ApplyObject changes an existing object to match its template. Fields of other owners that the
// template does not mention stay.
type ApplyObject struct {
	Ordinal  int
	Template string
	At       Target
	Object   *unstructured.Unstructured
	// Why says what is wrong with the object. Corrects is true if the only reason is that another
	// client has changed the object.
	Why      string
	Corrects bool
}

func (a CreateObject) String() string {
	if len(a.Generate) == 0 {
		return "create " + ObjectText(a.Object)
	}
	return fmt.Sprintf("create %s, generating %s", ObjectText(a.Object), KeysText(a.Generate))
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

// KeysText names keys for which values are generated.
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
