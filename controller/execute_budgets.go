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

// budgets ensures that disruptions that PodDisruptionBudgets have not observed yet do not exceed
// what the budgets allow. A successful dry run of an eviction uses up nothing, so it is valid for
// one pod only. The controller takes no other pod out of service until a later sync shows that the
// budgets have observed the first one.
type budgets struct {
	// Evictions, which use up what a budget allows, run in parallel.
	sync.RWMutex
	// spent is true once a pod has been taken out of service in place, or may have been.
	spent bool
}

// disrupt changes a pod. If budgets apply to the change as they do to an eviction, it first tries
// to evict the pod in a dry run.
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
		return e.term.kinds.of(podsResource).tryEvictPod(ctx, e.set.Namespace, pod)
	})
	if err != nil {
		return err
	}
	err = e.change(ctx, podsResource, what, pod, change)
	var refused apierrors.APIStatus
	e.budgets.spent = !errors.As(err, &refused)
	return err
}

// evict evicts a pod if budgets allow it.
func (e *execution) evict(ctx context.Context, what subject, object action.Target) error {
	e.budgets.RLock()
	defer e.budgets.RUnlock()
	if e.budgets.spent {
		return errTurnOver
	}
	return e.deleteOrEvict(ctx, podsResource, what, object, e.term.kinds.of(podsResource).evictPod)
}

// tryEviction evicts a pod in a dry run. The eviction asks the cluster itself for a dry run, and
// the parameters of the request tell admission, which does not read the body of an eviction.
func tryEviction(ctx context.Context, host rest.Interface, eviction *policyv1.Eviction) error {
	return host.Post().Namespace(eviction.Namespace).Resource("pods").Name(eviction.Name).SubResource("eviction").
		VersionedParams(&metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, scheme.ParameterCodec).
		Body(eviction).Do(ctx).Error()
}
