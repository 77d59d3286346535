// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Manifest is what the manifest of an object template says about its objects. Everything that needs
// the kind, the version or the name of these objects reads them with ReadManifest, so that what is
// reviewed, rendered, watched and deleted is always the same.
type Manifest struct {
	// Tree is the whole manifest.
	Tree map[string]any
	// Kind is the kind of the objects and its version, as far as the manifest has them.
	Kind schema.GroupVersionKind
	// Name is the name of the objects, with parameters.
	Name string
}

// ReadManifest reads a manifest as the host cluster does: keys are case-sensitive, and of a key that
// appears several times the last value counts. in is the path of the manifest below spec. It returns
// an error for text that is not a JSON object, and for an apiVersion that cannot be one.
func ReadManifest(raw []byte, in string) (Manifest, *Error) {
	tree := map[string]any{}
	if err := utiljson.Unmarshal(raw, &tree); err != nil || tree == nil {
		return Manifest{}, errorf(in, "", "", "must be an object of Kubernetes")
	}
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return Manifest{}, errorf(in+".apiVersion", "", apiVersion, "%s", err)
	}
	metadata, _ := tree["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return Manifest{Tree: tree, Kind: version.WithKind(kind), Name: name}, nil
}
