// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settled is how often in a row the guard must let something be deleted: each kube-apiserver of
// the cluster notices for itself that it is gone.
const settled = 5

// touched are the objects that this run changes.
func (r *run) touched() []object {
	if r.leaveRest {
		return slices.Concat([]object{registration(), probe()}, policy(preflightName), guard())
	}
	return removed()
}

// probe is an object that the guard covers.
func probe() object { return object{kind: kindOf("", "services"), name: serverName} }

// leave takes the guard away, and what keeps policies, so that what is left can be deleted in any
// order. Nothing is served any more by now.
func (r *run) leave(ctx context.Context) error {
	for _, o := range policy(preflightName) {
		found, err := r.get(ctx, o)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		if err := r.release(ctx, o, found); err != nil {
			return err
		}
	}
	for _, o := range guard() {
		if err := r.remove(ctx, o); err != nil {
			return err
		}
	}
	free := 0
	return r.await(ctx, "nothing is guarded any more", func(ctx context.Context) (string, error) {
		err := r.client(probe()).Delete(ctx, probe().name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsNotFound(err) {
			free = 0
			return "the guard still refuses", nil
		}
		if free++; free < settled {
			return "the guard lets go", nil
		}
		return "", nil
	})
}
