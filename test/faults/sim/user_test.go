// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

const namespace = "default"

// user plays a scenario.
type user struct {
	world *world
	set   *appsv1.StatefulSet
	steps []scenarios.Step
	// dirty is true if something has changed since the user looked.
	dirty bool
	// last is when the user did something, or saw what was waited for.
	last time.Time
	// hasty makes the user wait for nothing but the end.
	hasty bool
}

func newUser(w *world, scenario scenarios.Scenario) *user {
	return &user{world: w, set: scenario.Set, steps: scenario.Steps, dirty: true, last: time.Now()}
}

func (u *user) done() bool { return len(u.steps) == 0 }

func (u *user) waitsFor() string {
	if u.done() {
		return "for nothing"
	}
	if wait, ok := u.steps[0].(scenarios.Wait); ok {
		return fmt.Sprintf("%s: %s", wait, wait.Missing(u.world.observed()))
	}
	return u.steps[0].String()
}

// ready reports whether the next step can be done.
func (u *user) ready() bool {
	if u.done() || !u.dirty {
		return false
	}
	switch step := u.steps[0].(type) {
	case scenarios.Wait:
		u.dirty = step.Missing(u.world.observed()) == "" || u.mayHurry()
	case scenarios.Create:
		_, err := u.world.sets.Get(model.Sets, namespace, scenarios.Name)
		u.dirty = apierrors.IsNotFound(err)
	case scenarios.EndPod:
		u.dirty = u.running(step.Ordinal) != nil
	case losePod:
		u.dirty = u.running(step.Ordinal) != nil
	case scenarios.PatchObject:
		u.dirty = u.isThere(step.Name)
	case scenarios.DeleteObject:
		u.dirty = u.isThere(string(step))
	}
	return u.dirty
}

func (u *user) mayHurry() bool { return u.hasty && len(u.steps) > 1 }

// act does the next step.
func (u *user) act() {
	step := u.steps[0]
	u.steps, u.dirty, u.last = u.steps[1:], true, time.Now()
	u.world.trace("user: %s", step)
	sets := u.world.sets
	switch step := step.(type) {
	case scenarios.Create:
		set, err := scenarios.Ours(u.set)
		if err != nil {
			panic(err)
		}
		must(sets.Create(model.Sets, namespace, set))
	case scenarios.Patch:
		must(sets.Update(model.Sets, namespace, scenarios.Name, "", func(object model.Object) (model.Object, error) {
			return mergePatched(object, step)
		}))
	case scenarios.Delete:
		policy := metav1.DeletionPropagation(step)
		must(sets.Delete(model.Sets, namespace, scenarios.Name, metav1.DeleteOptions{PropagationPolicy: &policy}))
	case scenarios.EndPod:
		u.world.agent.fail(u.running(step.Ordinal), step.Reason)
	case losePod:
		claim := claimName("data", step.Ordinal)
		u.world.judge.given[claim] = true
		must(u.world.host.Delete(model.Claims, namespace, claim, metav1.DeleteOptions{}))
		u.world.agent.fail(u.running(step.Ordinal), step.Reason)
	case scenarios.PutObject:
		if !u.isThere(step.Name) {
			must(u.world.host.Create(model.ConfigMaps, namespace, step.Object()))
		}
	case scenarios.PatchObject:
		must(u.world.host.Patch(model.ConfigMaps, namespace, step.Name, []byte(step.Patch)))
	case scenarios.DeleteObject:
		u.world.judge.given[string(step)] = true
		must(u.world.host.Delete(model.ConfigMaps, namespace, string(step), metav1.DeleteOptions{}))
	}
}

// isThere reports whether there is an object of a name.
func (u *user) isThere(object string) bool {
	_, err := u.world.host.Get(model.ConfigMaps, namespace, object)
	return err == nil
}

// mergePatched is for the patches of scenarios, which remove nothing.
func mergePatched(object model.Object, patch scenarios.Patch) (model.Object, error) {
	var change struct{ Spec json.RawMessage }
	if err := json.Unmarshal([]byte(patch), &change); err != nil {
		return nil, fmt.Errorf("reading patch: %w", err)
	}
	set := object.(*v1.StatefulSet)
	if err := json.Unmarshal(change.Spec, &set.Spec); err != nil {
		return nil, fmt.Errorf("patching the set: %w", err)
	}
	return set, nil
}

// running is the pod of an ordinal that could fail, nil if there is none.
func (u *user) running(ordinal int) *corev1.Pod {
	object, err := u.world.host.Get(model.Pods, namespace, fmt.Sprintf("%s-%d", scenarios.Name, ordinal))
	if err != nil {
		return nil
	}
	pod := object.(*corev1.Pod)
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return nil
	}
	return pod
}

// observed is what there is.
func (w *world) observed() scenarios.Observed {
	var o scenarios.Observed
	if object, err := w.sets.Get(model.Sets, namespace, scenarios.Name); err == nil {
		o.Set = object.(*v1.StatefulSet)
	}
	for _, object := range w.host.List(model.Pods, namespace) {
		o.Pods = append(o.Pods, *object.(*corev1.Pod))
	}
	for _, object := range w.host.List(model.Claims, namespace) {
		o.Claims = append(o.Claims, *object.(*corev1.PersistentVolumeClaim))
	}
	for _, object := range w.host.List(model.Revisions, namespace) {
		o.Revisions = append(o.Revisions, *object.(*appsv1.ControllerRevision))
	}
	for _, object := range w.host.List(model.ConfigMaps, namespace) {
		o.Objects = append(o.Objects, *object.(*corev1.ConfigMap))
	}
	for _, object := range w.host.List(model.Secrets, namespace) {
		o.Secrets = append(o.Secrets, *object.(*corev1.Secret))
	}
	return o
}
