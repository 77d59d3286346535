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

// templateVolumes is where a set has the volumes of its template.
const templateVolumes = "spec.template.spec.volumes"

// origin translates the field paths of an object that is made from a set into those
// of the set.
type origin struct {
	// whole is where the whole object comes from, if it is made from one part of the set.
	whole string
	// fields are looked through in this order.
	fields []fieldOrigin
	// volumes are the paths of the set that the pod's volumes come from, by index.
	volumes []string
}

// fieldOrigin says which field of the set a field of the object is made from.
type fieldOrigin struct{ object, set string }

// of is the path of the set for a path of the object. A path that comes from nowhere
// in the set stays as it is.
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

// volume puts the origin of a volume in the place of its index: in the pod, the
// claims come first.
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

// warning is a warning about the object as one about the set. Many begin with a
// path.
func (o origin) warning(text string) string {
	path, rest, ok := strings.Cut(text, ": ")
	if !ok || strings.Contains(path, " ") {
		return text
	}
	return o.of(path) + ": " + rest
}

// below is what follows prefix in a path, if the path is of that field or below it.
func below(path, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// volumeOrigins are where the volumes of a pod of the set come from: first the claims,
// then the template's volumes that no claim takes the place of.
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
