// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// rateMutants are wrong in how many members start, and go, at a time.
func rateMutants() map[string]mutant {
	return map[string]mutant{
		"creates more at a time than may start": {"rate of creation", unbounded},
		"removes more at a time than may go":    {"rate of removal", unbounded},
		"creates fewer than may start": {"rate unused", func(w World, p Plan) Plan {
			if _, bounded := gather(w).atATime(); !bounded {
				return p
			}
			return each(func(action.CreateMember) []action.Action { return nil })(w, p)
		}},
		"creates the highest of a Parallel set first": {"rate order", func(w World, p Plan) Plan {
			lacking := missing(w)
			return each(func(a action.CreateMember) []action.Action {
				if _, bounded := gather(w).atATime(); bounded {
					a.Ordinal = lacking[len(lacking)-1]
					a.Pod = identity.Pod(w.Set, &w.Set.Spec.Template, p.Status.UpdateRevision, a.Ordinal)
				}
				return []action.Action{a}
			})(w, p)
		}},
		"looks again only when all that start should have": {"next look", func(w World, p Plan) Plan {
			if _, bounded := gather(w).atATime(); bounded && p.RequeueAfter > 0 {
				p.RequeueAfter += time.Hour
			}
			return p
		}},
	}
}

// unbounded does for members what the plan of a set without a rate does.
func unbounded(w World, p Plan) Plan {
	w.Set = w.Set.DeepCopy()
	w.Set.Spec.ScaleStrategy = nil
	return doing(p, Compute(w))
}
