// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostObjects is how many objects of templates are tried for one write.
const mostObjects = 16

// objectTrials are the trials of the templates of objects that make others than those of the old set,
// nil if there is none: of each the object of the first member, and that of the last, or the one of the
// set. They have their real names, which their contents may repeat.
func objectTrials(set, old *appsv1.StatefulSet) (trials []trial) {
	changed := identity.ChangedObjectTemplates(set, old)
	if len(changed) == 0 {
		return nil
	}
	templates, wrong := identity.OverridesOf(set).Objects()
	if wrong != nil {
		return nil // which was found before
	}
	roster := identity.OrdinalsOf(set)
	for _, i := range changed {
		ordinals := []int{roster.First()}
		if last, any := roster.Last(); any && last != roster.First() && !templates[i].ForSet() {
			ordinals = append(ordinals, last)
		}
		path := field.NewPath("spec", "objectTemplates").Index(i).Child("object").String()
		for _, ordinal := range ordinals {
			if object, wrong := templates[i].Make(ordinal); wrong == nil {
				trials = append(trials, trial{object: withTexts(object, templates[i].Template().Generate), path: path, origin: origin{whole: path}, group: ofObject})
			}
		}
	}
	return trials
}

// withTexts has a Secret have what is drawn for it when it is created: some types want their keys.
func withTexts(object *unstructured.Unstructured, generate []appsv1.GeneratedKey) *unstructured.Unstructured {
	data := map[string]any{}
	for _, key := range generate {
		data[key.Key] = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", base64.RawURLEncoding.EncodedLen(int(key.Bytes)))))
	}
	if len(data) > 0 {
		object.Object["data"] = data
	}
	return object
}

// unaskedObjects says which templates of objects were not tried, because they were too many.
func unaskedObjects(trials []trial) []string {
	if len(trials) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s to %s: not checked: for one request at most %d objects of templates are tried on the host cluster", trials[0].path, trials[len(trials)-1].path, mostObjects)}
}
