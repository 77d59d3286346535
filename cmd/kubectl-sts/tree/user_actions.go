// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// userActions describes the requests of users, with the latest first.
func (s state) userActions() (lines []string) {
	actions := slices.Clone(s.set.Status.UserActions)
	slices.SortStableFunc(actions, func(a, b v1.UserAction) int { return b.Time.Compare(a.Time.Time) })
	for i := range actions {
		lines = append(lines, identity.DescribeUserAction(s.set.Name, &actions[i]))
	}
	return lines
}
