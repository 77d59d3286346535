// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settled is how often in a row the guard must allow a deletion: each kube-apiserver of the cluster
// observes by itself that the guard was removed.
const settled = 5

// touched returns the objects that this run changes.
func (r *run) touched() []object {
	if r.leaveRest {
		return slices.Concat([]object{registration(), probe()}, policy(preflightName), guard())
	}
	return removed()
}

// probe returns an object that the guard covers.
func probe() object { return object{kind: kindOf("", "services"), name: serverName} }

// leave removes the guard and the finalizers of policies, so that the other objects can be deleted
// in any order. At this point nothing is served any more.
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
	return r.await(ctx, "the guard protects nothing any more", func(ctx context.Context) (string, error) {
		err := r.client(probe()).Delete(ctx, probe().name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsNotFound(err) {
			free = 0
			return "the guard still refuses", nil
		}
		if free++; free < settled {
			return "the guard allows a deletion, which is checked again", nil
		}
		return "", nil
	})
}
