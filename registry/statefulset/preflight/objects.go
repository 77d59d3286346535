// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// mostObjects is the maximum number of objects of templates that are tried for one write.
const mostObjects = 16

// objectTrials returns the trials of the object templates that render other objects than in the old
// set, nil if there are none. Each template is tried with the objects of the first and the last
// member, or with the object of the set. The objects have their real names, because their content
// may contain the name.
func objectTrials(within *render.Evaluation, set, old *v1.StatefulSet) (trials []trial) {
	changed := identity.ChangedObjectTemplates(set, old)
	if len(changed) == 0 {
		return nil
	}
	templates, wrong := identity.OverridesWithin(within, set).Objects()
	if wrong != nil {
		return nil // reported by the validation
	}
	for _, i := range changed {
		path := field.NewPath("spec", "objectTemplates").Index(i).Child("object").String()
		for _, ordinal := range endsOf(set, templates[i].ForSet()) {
			if object, wrong := templates[i].Make(ordinal); wrong == nil {
				trials = append(trials,
					trial{object: withTexts(object, templates[i].Template().Generate), path: path, origin: origin{whole: path}, group: ofObject})
			}
		}
	}
	return trials
}

// withTexts adds placeholders for the values that are generated when a Secret is created, because
// some types of Secrets require their keys.
func withTexts(object *unstructured.Unstructured, generate []v1.GeneratedKey) *unstructured.Unstructured {
	data := map[string]any{}
	for _, key := range generate {
		data[key.Key] = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", base64.RawURLEncoding.EncodedLen(int(key.Bytes)))))
	}
	if len(data) > 0 {
		object.Object["data"] = data
	}
	return object
}
