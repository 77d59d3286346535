// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// leftObjects says what becomes of the objects that our set describes when it is moved to apps/v1; empty
// if it describes none. They name the set in an annotation, and not as an owner, so that nothing is done.
func leftObjects(set *v1.StatefulSet) string {
	if set == nil || len(set.Spec.ObjectTemplates) == 0 {
		return ""
	}
	var names []string
	templates, _ := identity.OverridesOf(set).Objects() // the server has taken them
	for _, template := range templates {
		names = append(names, template.Kind().Kind+" "+template.Pattern())
	}
	return fmt.Sprintf(
		"stays: the objects of spec.objectTemplates (%s), with their labels and annotations; in apps/v1 nothing makes, changes or deletes them; a set %s of %s that describes them again takes them over",
		strings.Join(names, ", "), set.Name, v1.GroupName)
}
