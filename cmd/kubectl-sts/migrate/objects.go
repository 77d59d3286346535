// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// leftObjects returns a note about what happens to the objects of object templates when our set is
// moved to apps/v1, empty if there are no templates. The objects name the set in an annotation and
// not as their owner, so the move does not change them.
func leftObjects(set *v1.StatefulSet) string {
	if set == nil || len(set.Spec.ObjectTemplates) == 0 {
		return ""
	}
	var names []string
	templates, _ := identity.OverridesOf(set).Objects() // the server has accepted them
	for _, template := range templates {
		names = append(names, template.Kind().Kind+" "+template.Pattern())
	}
	return fmt.Sprintf(
		"stays: the objects of spec.objectTemplates (%s), with their labels and annotations; in apps/v1 no controller creates, changes or deletes them; a set %s of %s with templates for them takes them over",
		strings.Join(names, ", "), set.Name, v1.GroupName)
}
