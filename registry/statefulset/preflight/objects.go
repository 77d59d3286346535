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

// mostObjects is how many objects of templates are tried for one write.
const mostObjects = 16

// objectTrials are the trials of the templates of objects that make others than those of the old set,
// nil if there is none: of each the object of the first member, and that of the last, or the one of the
// set. They have their real names, which their contents may repeat.
func objectTrials(within *render.Evaluation, set, old *v1.StatefulSet) (trials []trial) {
	changed := identity.ChangedObjectTemplates(set, old)
	if len(changed) == 0 {
		return nil
	}
	templates, wrong := identity.OverridesWithin(within, set).Objects()
	if wrong != nil {
		return nil // which was found before
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

// withTexts has a Secret have what is drawn for it when it is created: some types want their keys.
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
