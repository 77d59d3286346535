// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/members"
)

// decides reports whether the running update would be promoted or aborted.
func (c change) decides() bool { return c.promoted != 0 || c.promotedAll || c.aborted }

// replaces reports whether members would be replaced.
func (c change) replaces() bool { return len(c.replaced) > 0 }

// validateRequest checks the flags that request something without changing the set.
func (c change) validateRequest() error {
	requests := 0
	for _, asked := range []bool{c.promoted != 0, c.promotedAll, c.aborted, c.replaces()} {
		if asked {
			requests++
		}
	}
	switch {
	case c.promoted < 0:
		return fmt.Errorf("--promote is %d, must be 1 or more", c.promoted)
	case c.forced && !c.replaces():
		return errors.New("--force requires --replace")
	case requests > 1:
		return errors.New("--promote, --promote-all, --abort and --replace cannot be combined with each other")
	case requests == 1 && (c.file != "" || c.replicas != unchanged || len(c.images)+len(c.removed) > 0):
		return errors.New("--promote, --promote-all, --abort and --replace cannot be combined with a change of the set")
	default:
		return nil
	}
}

// askDecided gets the plan of the set after a promotion or an abort.
func (r *request) askDecided(ctx context.Context, name string) (*v1.StatefulSetPlan, error) {
	sets := r.sets.AppsV1().StatefulSets(r.namespace)
	set, err := sets.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	decision := &v1.StatefulSetRollout{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: set.UID}, Revision: set.Status.UpdateRevision, Action: v1.AbortRollout}
	switch {
	case r.change.promoted > 0:
		decision.Action, decision.Step = v1.PromoteRollout, r.change.promoted
	case r.change.promotedAll:
		decision.Action = v1.PromoteAllRollout
	}
	return sets.PlanRollout(ctx, name, decision, metav1.CreateOptions{})
}

// askReplaced gets the plan of the set after a request to replace members.
func (r *request) askReplaced(ctx context.Context, name string) (*v1.StatefulSetPlan, error) {
	of, ordinals, err := members.Named(r.change.replaced)
	if err != nil {
		return nil, fmt.Errorf("--replace: %w", err)
	}
	if of != name {
		return nil, fmt.Errorf("--replace names a member of set %s, but the plan is for set %s", of, name)
	}
	request := &v1.StatefulSetReplacement{ObjectMeta: metav1.ObjectMeta{Name: name}, Ordinals: members.Each(ordinals), Force: r.change.forced}
	return r.sets.AppsV1().StatefulSets(r.namespace).PlanReplacement(ctx, name, request, metav1.CreateOptions{})
}
