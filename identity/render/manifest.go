// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Manifest is the parsed manifest of an object template. All code that needs the kind, the version
// or the name of its objects reads them with ReadManifest, so that what is reviewed, rendered,
// watched and deleted is always the same.
type Manifest struct {
	// Tree is the whole manifest.
	Tree map[string]any
	// Kind is the kind and version of the objects. A part that the manifest does not have is empty.
	Kind schema.GroupVersionKind
	// Name is the name of the objects, with parameters.
	Name string
}

// ReadManifest parses a manifest as the host cluster does: keys are case-sensitive, and the last
// value of a repeated key wins. in is the path of the manifest below spec. It returns an error for
// text that is not a JSON object, and for an invalid apiVersion.
func ReadManifest(raw []byte, in string) (Manifest, *Error) {
	tree := map[string]any{}
	if err := utiljson.Unmarshal(raw, &tree); err != nil || tree == nil {
		return Manifest{}, errorf(in, "", "", "must be a Kubernetes object")
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
