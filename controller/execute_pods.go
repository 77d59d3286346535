// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// createMember creates the pod after all claims exist that the member lacked.
func (e *execution) createMember(ctx context.Context, act action.CreateMember) error {
	if err := e.createClaims(ctx, act.Claims); err != nil {
		return err
	}
	return e.createPod(ctx, act.Pod)
}

func (e *execution) createPod(ctx context.Context, pod *corev1.Pod) error {
	what := subject{kind: "pod", name: pod.Name}
	err := e.add(ctx, podsResource, what, pod)
	switch {
	case err == nil:
		e.recordSuccess(create, what)
	case apierrors.IsAlreadyExists(err):
		e.term.states.getOrCreate(e.key).addUnlabeledPod(pod.Name)
	}
	return err
}

func (e *execution) repairPod(ctx context.Context, act action.RepairPod) error {
	what := subject{part: "labels of ", kind: "pod", name: act.Pod.Name}
	err := e.change(ctx, podsResource, what, act.Pod, change{labels: present(act.Labels)})
	if err == nil {
		e.recordSuccess(update, what)
	}
	return err
}

func (e *execution) patchPod(ctx context.Context, act action.PatchPod) error {
	what := subject{kind: "pod", name: act.Pod.Name}
	err := e.change(ctx, podsResource, what, act.Pod, change{labels: act.Labels, annotations: act.Annotations})
	if err == nil && act.Event != "" {
		e.recordEvent(corev1.EventTypeNormal, act.Event, act.What+" of ", what, "")
	}
	return err
}

// setPodConditions emits no event: others change conditions all the time.
func (e *execution) setPodConditions(ctx context.Context, act action.SetPodConditions) error {
	what := subject{part: "conditions of ", kind: "pod", name: act.Pod.Name}
	return e.disrupt(ctx, act, act.Pod, what, change{conditions: act.Conditions})
}

func (e *execution) deletePod(ctx context.Context, act action.DeletePod) error {
	what := subject{kind: "pod", name: act.Pod.Name, why: " (" + act.Why() + ")"}
	var err error
	if act.Evict {
		err = e.evict(ctx, what, act.Pod)
	} else {
		err = e.remove(ctx, podsResource, what, act.Pod)
	}
	if err == nil {
		e.recordSuccess(deletion, what)
	}
	return err
}

func (e *execution) adoptPod(ctx context.Context, act action.AdoptPod) error {
	return e.adopt(ctx, podsResource, subject{part: "owner of ", kind: "pod", name: act.Pod.Name}, act.Pod)
}

func (e *execution) releasePod(ctx context.Context, act action.ReleasePod) error {
	what := subject{part: "owner of ", kind: "pod", name: act.Pod.Name}
	return e.change(ctx, podsResource, what, act.Pod, change{dropOwner: e.set.UID})
}

// adopt makes the set the controller of an object that has no controller.
func (e *execution) adopt(ctx context.Context, kind resource, what subject, object action.Target) error {
	return e.adoptAs(ctx, kind, what, object, identity.Owner(e.set))
}

// adoptAs makes the set an owner of an object.
func (e *execution) adoptAs(ctx context.Context, kind resource, what subject, object action.Target, owner metav1.OwnerReference) error {
	if e.adopting != nil {
		return e.adopting
	}
	return e.change(ctx, kind, what, object, change{addOwner: &owner})
}
