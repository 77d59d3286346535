// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Delete deletes an object. It is removed at once unless it has finalizers or a grace period.
func (s *Server) Delete(resource schema.GroupVersionResource, namespace, name string, options metav1.DeleteOptions) (Object, error) {
	old, err := s.Get(resource, namespace, name)
	if err != nil {
		return nil, err
	}
	if err := checkPreconditions(resource, old, options.Preconditions); err != nil {
		return nil, err
	}
	object := old.DeepCopyObject().(Object)
	period, graceful, pending := s.askToGo(resource, object, options.GracePeriodSeconds)
	if pending {
		return old, nil
	}
	object.SetFinalizers(finalizersFor(object.GetFinalizers(), options.PropagationPolicy))
	held := len(object.GetFinalizers()) > 0
	if held && !graceful {
		s.markDeleting(object)
	}
	if held && equality.Semantic.DeepEqual(object, old) {
		return old, nil
	}
	if held || graceful {
		object = s.put(resource, watch.Modified, object, old)
	}
	if held || graceful && period > 0 {
		return object, nil
	}
	return s.drop(resource, object), nil
}

func checkPreconditions(resource schema.GroupVersionResource, object Object, preconditions *metav1.Preconditions) error {
	switch {
	case preconditions == nil:
		return nil
	case preconditions.UID != nil && *preconditions.UID != object.GetUID():
		return apierrors.NewConflict(resource.GroupResource(), object.GetName(), errors.New("the UID in the precondition does not match"))
	case preconditions.ResourceVersion != nil && *preconditions.ResourceVersion != object.GetResourceVersion():
		return apierrors.NewConflict(resource.GroupResource(), object.GetName(),
			errors.New("the resourceVersion in the precondition does not match"))
	default:
		return nil
	}
}

// askToGo sets the deletion time of an object with a grace period. It reports pending if the object
// was already deleted, and this request does not shorten its grace period.
func (s *Server) askToGo(resource schema.GroupVersionResource, object Object, asked *int64) (period int64, graceful, pending bool) {
	grace := s.kinds[resource].grace
	if grace == nil {
		return 0, false, false
	}
	if object.GetDeletionTimestamp() == nil {
		period = grace(object, asked)
		s.goUntil(object, s.now().Time, period)
		if generation := object.GetGeneration(); generation > 0 {
			object.SetGeneration(generation + 1)
		}
		return period, true, false
	}
	if graceIsOver(object) {
		return 0, false, false
	}
	before := *object.GetDeletionGracePeriodSeconds()
	if asked == nil || *asked >= before {
		return 0, false, true
	}
	told := object.GetDeletionTimestamp().Add(-time.Duration(before) * time.Second)
	period = *asked
	if now := s.now().Time; told.Add(time.Duration(period)*time.Second).Before(now) && period > 0 {
		told, period = now.Add(-time.Second), 1
	}
	s.goUntil(object, told, period)
	return period, true, false
}

func (s *Server) goUntil(object Object, from time.Time, period int64) {
	until := metav1.NewTime(from.Add(time.Duration(period) * time.Second))
	object.SetDeletionTimestamp(&until)
	object.SetDeletionGracePeriodSeconds(&period)
}

// markDeleting marks an object that only finalizers keep.
func (s *Server) markDeleting(object Object) {
	if object.GetDeletionTimestamp() == nil && object.GetGeneration() > 0 {
		object.SetGeneration(object.GetGeneration() + 1)
	}
	if now := s.now(); object.GetDeletionTimestamp() == nil || object.GetDeletionTimestamp().After(now.Time) {
		object.SetDeletionTimestamp(&now)
	}
	object.SetDeletionGracePeriodSeconds(new(int64(0)))
}

func graceIsOver(object Object) bool {
	period := object.GetDeletionGracePeriodSeconds()
	return period == nil || *period == 0
}

// finalizersFor returns the finalizers and, if a policy was named, the one that makes the garbage
// collector act first.
func finalizersFor(finalizers []string, policy *metav1.DeletionPropagation) []string {
	if policy == nil {
		return finalizers
	}
	finalizers = slices.DeleteFunc(slices.Clone(finalizers), func(finalizer string) bool {
		return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
	})
	switch *policy {
	case metav1.DeletePropagationOrphan:
		return append(finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		return append(finalizers, metav1.FinalizerDeleteDependents)
	default:
		return finalizers
	}
}
