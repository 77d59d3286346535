// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

// overriding warns of overrides that say less than it seems: about containers or claim templates
// that are gone, and about claims that exist. Of many, the first few are named.
func overriding(set, old *v1.StatefulSet) []string {
	var texts []string
	if old != nil && templateConcerned(&set.Spec, &old.Spec) {
		texts = append(texts, unfounded(&set.Spec)...)
	}
	if old != nil && !equality.Semantic.DeepEqual(set.Spec.Overrides, old.Spec.Overrides) {
		texts = append(texts, notGrown(&set.Spec, &old.Spec)...)
	}
	return texts[:min(len(texts), mostUnmounted)]
}

// unfounded are the overrides of what the template and the claim templates have no more.
func unfounded(spec *v1.StatefulSetSpec) (texts []string) {
	containers, templates := containersOf(&spec.Template.Spec), claimTemplateNames(spec)
	for i := range spec.Overrides {
		path := field.NewPath("spec", "overrides").Index(i)
		for j, c := range spec.Overrides[i].Containers {
			if containers[c.Name] == nil && len(texts) < mostUnmounted {
				texts = append(texts, fmt.Sprintf("%s: the template has no container %q, so this part of the override is left out at its revision",
					path.Child("containers").Index(j), c.Name))
			}
		}
		for j, c := range spec.Overrides[i].VolumeClaims {
			if !templates.Has(c.Name) && len(texts) < mostUnmounted {
				texts = append(texts, fmt.Sprintf("%s: there is no claim template %q, so this part of the override is left out",
					path.Child("volumeClaims").Index(j), c.Name))
			}
		}
	}
	return texts
}

// notGrown are the changed parts about claims that leave claims that exist as they are.
func notGrown(spec, old *v1.StatefulSetSpec) (texts []string) {
	before := map[[2]string]*v1.VolumeClaimOverride{}
	for i := range old.Overrides {
		for j := range old.Overrides[i].VolumeClaims {
			c := &old.Overrides[i].VolumeClaims[j]
			before[[2]string{old.Overrides[i].Name, c.Name}] = c
		}
	}
	grows := spec.VolumeClaimUpdate.IsInPlace()
	for i := range spec.Overrides {
		for j := range spec.Overrides[i].VolumeClaims {
			c := &spec.Overrides[i].VolumeClaims[j]
			was := before[[2]string{spec.Overrides[i].Name, c.Name}]
			if was == nil {
				was = &v1.VolumeClaimOverride{}
			}
			path := field.NewPath("spec", "overrides").Index(i).Child("volumeClaims").Index(j)
			if c.Storage != nil && !grows && !equality.Semantic.DeepEqual(c.Storage, was.Storage) {
				texts = append(texts,
					fmt.Sprintf(
						"%s: %s is for new claims: claims that exist keep their size; set spec.volumeClaimUpdate.policy to InPlace to have them grow",
						path.Child("storage"), c.Storage))
			}
			if c.StorageClassName != nil && !equality.Semantic.DeepEqual(c.StorageClassName, was.StorageClassName) {
				texts = append(texts,
					fmt.Sprintf("%s: %q is for new claims: claims that exist keep their class", path.Child("storageClassName"), *c.StorageClassName))
			}
			if len(texts) >= mostUnmounted {
				return texts
			}
		}
	}
	return texts
}
