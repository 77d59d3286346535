// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// decides reports whether the update that is under way would be promoted or aborted.
func (c change) decides() bool { return c.promoted != 0 || c.promotedAll || c.aborted }

func (c change) validateDecision() error {
	decisions := 0
	for _, decided := range []bool{c.promoted != 0, c.promotedAll, c.aborted} {
		if decided {
			decisions++
		}
	}
	switch {
	case c.promoted < 0:
		return fmt.Errorf("--promote is %d, must be 1 or more", c.promoted)
	case decisions > 1:
		return errors.New("give one of --promote, --promote-all and --abort")
	case decisions == 1 && (c.file != "" || c.replicas != unchanged || len(c.images)+len(c.removed) > 0):
		return errors.New("--promote, --promote-all and --abort are about the update of a set as it is, and cannot be combined with a change")
	default:
		return nil
	}
}

// askDecided gets the plan of the set after the decision.
func (r *request) askDecided(ctx context.Context, name string) (*v1.StatefulSetPlan, error) {
	sets := r.sets.AppsV1().StatefulSets(r.namespace)
	set, err := sets.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	decision := &v1.StatefulSetRollout{ObjectMeta: metav1.ObjectMeta{Name: name, UID: set.UID}, Revision: set.Status.UpdateRevision, Action: v1.AbortRollout}
	switch {
	case r.change.promoted > 0:
		decision.Action, decision.Step = v1.PromoteRollout, r.change.promoted
	case r.change.promotedAll:
		decision.Action = v1.PromoteAllRollout
	}
	return sets.PlanRollout(ctx, name, decision, metav1.CreateOptions{})
}
