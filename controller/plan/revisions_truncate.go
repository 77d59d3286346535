// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"

	"statefulset.dev/controller/plan/action"
)

// truncateHistory plans to delete the oldest unused revisions, until no more than the limit are
// left.
func truncateHistory(f *facts, d *draft) verdict {
	limit := len(f.history)
	if f.world.Set.Spec.RevisionHistoryLimit != nil {
		limit = int(*f.world.Set.Spec.RevisionHistoryLimit)
	}
	if limit < 0 || len(f.history) <= limit {
		return proceed
	}
	live := map[string]bool{f.current.name: true, f.update.name: true}
	for _, pod := range f.world.Pods {
		live[revisionOf(pod)] = true
	}
	var dead []*appsv1.ControllerRevision
	for _, r := range f.history {
		if !live[r.Name] {
			dead = append(dead, r)
		}
	}
	for _, r := range dead[:max(len(dead)-limit, 0)] {
		d.aside = append(d.aside, action.Chain{action.DeleteRevision{Revision: action.Exact(r)}})
	}
	return proceed
}
