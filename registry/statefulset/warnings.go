// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	appsv1 "statefulset.dev/api/apps/v1"
)

// revisionSuffix is how many characters a revision's name may be longer than the
// name of its set: a dash and the ten digits of a hash.
const revisionSuffix = 11

// warnings are about sets that are valid but hardly do what was meant.
func warnings(set *appsv1.StatefulSet) []string {
	var texts []string
	if limit := set.Spec.RevisionHistoryLimit; limit != nil && *limit < 0 {
		texts = append(texts, fmt.Sprintf("spec.revisionHistoryLimit: %d is below 0, so every revision is kept forever; 0 or more is recommended", *limit))
	}
	// A name that leaves room for the revision leaves room for the ordinal in the
	// pod's name too: that suffix has at most as many characters.
	if limit := validation.LabelValueMaxLength - revisionSuffix; len(set.Name) > limit {
		texts = append(texts, fmt.Sprintf("metadata.name: %q has %d characters, more than %d: pods may not be created, because their label controller-revision-hash, which is this name and up to %d characters more, is limited to %d characters",
			set.Name, len(set.Name), limit, revisionSuffix, validation.LabelValueMaxLength))
	}
	return texts
}
