// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

// templateVolumes is the path of the volumes in the template of a set.
const templateVolumes = "spec.template.spec.volumes"

// origin translates field paths of an object that is rendered from a set to field paths of the set.
type origin struct {
	// whole is the path in the set from which the whole object is rendered, if there is only one.
	whole string
	// fields are tried in this order.
	fields []fieldOrigin
	// volumes are the paths in the set of the pod's volumes, by index.
	volumes []string
}

// fieldOrigin is a field of the object, and the field of the set from which it is rendered.
type fieldOrigin struct{ object, set string }

// of translates a path of the object to a path of the set. It returns a path without an origin in
// the set unchanged.
func (o origin) of(path string) string {
	if o.whole != "" {
		return o.whole + "." + path
	}
	for _, f := range o.fields {
		if rest, ok := below(path, f.object); ok {
			return o.volume(f.set + rest)
		}
	}
	return path
}

// volume replaces the index of a volume with the path of its origin. In the pod, the claims come
// first.
func (o origin) volume(path string) string {
	index, ok := strings.CutPrefix(path, templateVolumes+"[")
	if !ok {
		return path
	}
	index, rest, ok := strings.Cut(index, "]")
	if i, err := strconv.Atoi(index); ok && err == nil && i < len(o.volumes) {
		return o.volumes[i] + rest
	}
	return path
}

// warning translates a warning about the object to one about the set. Many warnings begin with a
// path.
func (o origin) warning(text string) string {
	path, rest, ok := strings.Cut(text, ": ")
	if !ok || strings.Contains(path, " ") {
		return text
	}
	return o.of(path) + ": " + rest
}

// below returns the part of a path after prefix, if the path is that of the field or of a field
// below it.
func below(path, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// volumeOrigins are the origins of the volumes of a pod: first the claims, then the volumes of the
// template that no claim replaces.
func volumeOrigins(set *v1.StatefulSet) []string {
	var origins []string
	claims := sets.New[string]()
	for i := range set.Spec.VolumeClaimTemplates {
		origins = append(origins, ClaimPath(i))
		claims.Insert(set.Spec.VolumeClaimTemplates[i].Name)
	}
	for i := range set.Spec.Template.Spec.Volumes {
		if !claims.Has(set.Spec.Template.Spec.Volumes[i].Name) {
			origins = append(origins, fmt.Sprintf("%s[%d]", templateVolumes, i))
		}
	}
	return origins
}

// ClaimPath is the path of a claim template in a set.
func ClaimPath(i int) string {
	return field.NewPath("spec", "volumeClaimTemplates").Index(i).String()
}
