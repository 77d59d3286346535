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

// objectTemplates are lost: no revision records them. Without them, the controller creates, changes
// and deletes no objects. When the templates are back, it recognizes the objects by their owner
// annotations. The records of pods and claims show whether there were templates.
func (r leftovers) objectTemplates(rebuilt *rebuiltSet) error {
	for _, pod := range r.pods {
		provided := providedTo(pod)
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim == nil {
				continue
			}
			if claim := r.claims[volume.PersistentVolumeClaim.ClaimName]; claim != nil {
				provided = append(provided, providedTo(claim)...)
			}
		}
		slices.Sort(provided)
		if provided = slices.Compact(provided); len(provided) > 0 {
			rebuilt.guess(
				"spec.objectTemplates are lost, and member %s uses what they provided: %s; apply the set's manifest before you remove the hold annotation, or a recreated member lacks that", pod.Name, strings.Join(provided, ", "))
			return nil
		}
	}
	return nil
}

// providedTo returns what objects provided to a pod or a claim, which records it: Secrets and
// outputs.
func providedTo(object metav1.Object) (given []string) {
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
