// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"time"

	"statefulset.dev/identity"
)

// mostReclaims limits how many dates the tree shows.
const mostReclaims = 5

// reclaims returns when the claims of removed members are due for deletion, and what prevents it.
func (s state) reclaims() (lines []string) {
	for i, r := range s.set.Status.Reclaims {
		if i == mostReclaims {
			return append(lines, fmt.Sprintf("and %d more", len(s.set.Status.Reclaims)-i))
		}
		who := identity.PodName(s.set.Name, int(r.First))
		if r.End() != int(r.First) {
			who += " to " + identity.PodName(s.set.Name, r.End())
		}
		line := fmt.Sprintf("%s  due for deletion at %s", who, r.DueTime.UTC().Format(time.RFC3339))
		if r.Message != "" {
			line += ": " + r.Message
		}
		lines = append(lines, line)
	}
	return lines
}
