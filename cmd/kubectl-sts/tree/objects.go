// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import "fmt"

// objects say, by template, how far the objects are there that the set describes.
func (s state) objects() (lines []string) {
	for _, o := range s.set.Status.ObjectTemplates {
		line := fmt.Sprintf("%s  %s %s, %d of %d there", o.Name, o.Kind, o.ObjectName, o.Present+o.Foreign, o.Wanted)
		if o.Foreign > 0 {
			line += fmt.Sprintf(", %d of others", o.Foreign)
		}
		if o.Message != "" {
			line += ": " + o.Message
		}
		lines = append(lines, line)
	}
	return lines
}
