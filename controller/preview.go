// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/forecast"
)

// Preview shows plans without carrying them out. It reads from the host what the
// caches of a controller would hold of one namespace, so every replica can answer, the
// leader or not, and the answer is as new as the host.
type Preview struct {
	host  kubernetes.Interface
	clock clock.PassiveClock
}

// NewPreview returns a preview that reads from the host.
func NewPreview(host *rest.Config) (*Preview, error) {
	client, err := NewHostClient(host)
	if err != nil {
		return nil, err
	}
	return &Preview{client, clock.RealClock{}}, nil
}

// Current is the round that the controller is in with a set. neighbours are all sets
// of its namespace.
func (p *Preview) Current(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	world, err := p.observe(ctx, set, neighbours)
	if err != nil {
		return nil, err
	}
	return forecast.Now(world), nil
}

// Proposed is what a set would lead to that is not stored, or not stored so.
func (p *Preview) Proposed(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	world, err := p.observe(ctx, set, neighbours)
	if err != nil {
		return nil, err
	}
	return forecast.Play(world), nil
}

// observe gathers what the planner may see of a set.
func (p *Preview) observe(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (plan.World, error) {
	read := newCaches(p.host, unused{})
	for i := range neighbours {
		if err := read.put(setsResource, &neighbours[i]); err != nil {
			return plan.World{}, err
		}
	}
	if err := p.list(ctx, set.Namespace, read); err != nil {
		return plan.World{}, err
	}
	return plan.World{Set: set, Revisions: read.revisionsOf(set), Pods: read.podsOf(set), Claims: read.claimsOf(set), Rivals: read.rivalsOf(set), Now: p.clock.Now()}, nil
}

// unused stands for a client of our own API that caches are built with and that is
// never asked, because the caches are not run.
type unused struct{ versioned.Interface }

// list reads a namespace of the host, with the selections that a controller watches with.
func (p *Preview) list(ctx context.Context, namespace string, into caches) error {
	members := metav1.ListOptions{LabelSelector: appsv1.StatefulSetPodNameLabel}
	pods, err := p.host.CoreV1().Pods(namespace).List(ctx, members)
	if err != nil {
		return unreadable(podsResource, err)
	}
	claims, err := p.host.CoreV1().PersistentVolumeClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return unreadable(claimsResource, err)
	}
	revisions, err := p.host.AppsV1().ControllerRevisions(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return unreadable(revisionsResource, err)
	}
	return errors.Join(
		putAll(into, podsResource, pods.Items, trimPod),
		putAll(into, claimsResource, claims.Items, trimClaim),
		putAll(into, revisionsResource, revisions.Items, trimRevision))
}

// retryAfter is how many seconds a client waits until it asks for a plan again.
const retryAfter = 5

// unreadable tells the client that the host does not answer, and when to ask again.
func unreadable(kind resource, err error) error {
	answer := apierrors.NewServiceUnavailable(fmt.Sprintf("the plan cannot be made, because the host cluster does not list %s: %v", kind, err))
	answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfter}
	return answer
}

func putAll[T any, P interface {
	*T
	runtime.Object
}](into caches, kind resource, items []T, trim func(any) (any, error)) error {
	for i := range items {
		short, err := trim(P(&items[i]))
		if err != nil {
			return err
		}
		if err := into.put(kind, short); err != nil {
			return err
		}
	}
	return nil
}

// put adds an object to a cache that does not run.
func (c caches) put(kind resource, object any) error {
	if err := c[kind].GetIndexer().Add(object); err != nil {
		return fmt.Errorf("indexing %s: %w", kind, err)
	}
	return nil
}
