// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// removing warns of templates that are removed, and whose objects are deleted for that; or are not,
// although the template says it, because there are too many of them.
func removing(set, old *v1.StatefulSet) (texts []string) {
	removed, before := identity.RemovedTemplates(&set.Status), identity.RemovedTemplates(&old.Status)
	for _, s := range removed {
		if slices.ContainsFunc(before, func(b v1.ObjectTemplateStatus) bool { return b.Name == s.Name && b.RemovedAt.Equal(s.RemovedAt) }) {
			continue
		}
		when := "when no pod is left that may use them"
		if after, _ := s.Retention.DeletesScaled(); after > 0 {
			when = fmt.Sprintf("%s after no pod is left that may use them", after)
		}
		texts = append(texts,
			fmt.Sprintf("spec.objectTemplates: template %q, %s %s, is removed, and its objects are deleted %s; to keep them, put it back", s.Name,
				s.Kind, s.ObjectName, when))
	}
	for i := range old.Spec.ObjectTemplates {
		was := &old.Spec.ObjectTemplates[i]
		_, deletes := was.DeletesScaled()
		gone := !slices.ContainsFunc(set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == was.Name })
		noted := slices.ContainsFunc(removed, func(s v1.ObjectTemplateStatus) bool { return s.Name == was.Name })
		if deletes && gone && !noted {
			texts = append(texts,
				fmt.Sprintf(
					"spec.objectTemplates: template %q is removed, and its objects stay: those of %d removed templates have yet to be deleted, which is the most at a time", was.Name, identity.MostRemovedTemplates))
		}
	}
	return texts
}
