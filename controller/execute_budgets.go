// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"sync"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"statefulset.dev/controller/plan/action"
)

// budgets keeps what budgets do not know of from being more than they allow. That the host would
// evict a pod uses up nothing of them, so it is true of one pod only, and no more is taken from
// service until a later look shows that they know of that one.
type budgets struct {
	// Evictions, which use up what they are allowed, go on side by side.
	sync.RWMutex
	// spent is true once a pod has been taken from service in place, or may have been.
	spent bool
}

// disrupt changes a pod, and where budgets have a say in that, as an eviction, it asks the host
// before whether it would evict it.
func (e *execution) disrupt(ctx context.Context, act action.Action, pod action.Target, what subject, change change) error {
	if !action.AsksBudgets(act) {
		return e.change(ctx, podsResource, what, pod, change)
	}
	e.budgets.Lock()
	defer e.budgets.Unlock()
	if e.budgets.spent {
		return errTurnOver
	}
	err := e.do(ctx, update, what, func(ctx context.Context) error {
		return e.term.kinds.of(podsResource).tryExpelling(ctx, e.set.Namespace, pod)
	})
	if err != nil {
		return err
	}
	err = e.change(ctx, podsResource, what, pod, change)
	var refused apierrors.APIStatus
	e.budgets.spent = !errors.As(err, &refused)
	return err
}

// evict removes a pod if budgets allow it.
func (e *execution) evict(ctx context.Context, what subject, object action.Target) error {
	e.budgets.RLock()
	defer e.budgets.RUnlock()
	if e.budgets.spent {
		return errTurnOver
	}
	return e.takeAway(ctx, podsResource, what, object, e.term.kinds.of(podsResource).expel)
}

// tryEviction tells the host to evict a pod in a dry run. The eviction says so for the host itself,
// and the request for whoever else looks at it: of what is in an eviction, admission knows nothing.
func tryEviction(ctx context.Context, host rest.Interface, eviction *policyv1.Eviction) error {
	return host.Post().Namespace(eviction.Namespace).Resource("pods").Name(eviction.Name).SubResource("eviction").
		VersionedParams(&metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, scheme.ParameterCodec).
		Body(eviction).Do(ctx).Error()
}
