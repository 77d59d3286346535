// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// userActions are the recorded requests of users, all marked as observed by the controller. The
// event about a request is emitted after the mark was written, so it is emitted once, whichever
// replica leads. For a restart, the update revision is added if the set has not changed since.
func userActions(f *facts) []v1.UserAction {
	actions := observed(f.world.Set.Status.UserActions)
	for i := range actions {
		a := &actions[i]
		if a.Action == v1.RestartUserAction && a.Revision == "" && a.Generation == f.world.Set.Generation && !f.isFrozen() {
			a.Revision = f.update.name
		}
	}
	return actions
}

// observed is a copy of requests, all marked as observed.
func observed(actions []v1.UserAction) []v1.UserAction {
	actions = slices.Clone(actions)
	for i := range actions {
		actions[i].Observed = true
	}
	return actions
}

// whoAborted names the user who aborted the update, as far as the status says.
func (f *facts) whoAborted() string {
	if a := f.world.Set.Status.UserAction(v1.AbortUserAction); a != nil && a.Revision == f.update.name {
		return words.SanitizeText(identity.UserText(a.User))
	}
	return "a user"
}
