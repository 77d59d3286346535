// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// objectTemplates are lost: no revision records them. Without them nothing makes, changes or deletes the
// objects, which are told by their marks when the templates are there again. What members were given of
// objects tells that there were some.
func (r leftovers) objectTemplates(rebuilt *rebuiltSet) error {
	for _, pod := range r.pods {
		given := givenTo(pod)
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim == nil {
				continue
			}
			if claim := r.claims[volume.PersistentVolumeClaim.ClaimName]; claim != nil {
				given = append(given, givenTo(claim)...)
			}
		}
		slices.Sort(given)
		if given = slices.Compact(given); len(given) > 0 {
			rebuilt.guess(
				"spec.objectTemplates are lost, and member %s was given what they made: %s; apply the set's manifest before the set is not held any more, or a member that is created again lacks that", pod.Name, strings.Join(given, ", "))
			return nil
		}
	}
	return nil
}

// givenTo is what a pod or a claim says that it was given of objects.
func givenTo(object metav1.Object) (given []string) {
	for _, name := range identity.GeneratedOf(object) {
		given = append(given, "Secret "+name)
	}
	for _, key := range slices.Sorted(maps.Keys(object.GetAnnotations())) {
		if name, is := strings.CutPrefix(key, v1.OutputAnnotationPrefix); is {
			given = append(given, fmt.Sprintf("output %s", name))
		}
	}
	return given
}
