//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"statefulset.dev/test/faults/internal/scenarios"
)

const (
	// runPrefix begins the name of every namespace of the suite.
	runPrefix = "fault-"
	// tryMark tells a set that a repeated create has made from an earlier one.
	tryMark = "faults.test/step"
)

// run is one scenario, played in a namespace of its own.
type run struct {
	*history
	*bench

	side      side
	scenario  scenarios.Scenario
	namespace string
	client    dynamic.ResourceInterface
	agent     *agent
	// unmet is what the run was still waiting for when it was given up.
	unmet string
	// shared is true if several controllers are active at the same time.
	shared bool
	// before is called before each step, after when there is none left.
	before func(step int)
	after  func()
}

// newRun makes a namespace, and a node agent for it until the test ends.
func (b *bench) newRun(t *testing.T, s side, scenario scenarios.Scenario) *run {
	t.Helper()
	ns, err := b.Host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: runPrefix},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	r := &run{bench: b, side: s, scenario: scenario, namespace: ns.Name, history: b.world.follow(ns.Name),
		client: b.sets(t, s).Namespace(ns.Name), before: func(int) {}, after: func() {}}
	r.agent = &agent{history: r.history, host: b.Host, namespace: ns.Name, fail: t.Errorf, done: map[string]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	var caring sync.WaitGroup
	caring.Go(func() { r.agent.run(ctx) })
	t.Cleanup(func() {
		cancel()
		caring.Wait()
	})
	return r
}

// newRuns makes one run for each scenario, ready to be played.
func (b *bench) newRuns(t *testing.T, s side, all []scenarios.Scenario) []*run {
	t.Helper()
	var runs []*run
	for _, scenario := range all {
		runs = append(runs, b.newRun(t, s, scenario))
	}
	for _, r := range runs {
		// Without its service account no pod could be created in the namespace.
		if err := repeat(t.Context(), func() error {
			_, err := b.Host.CoreV1().ServiceAccounts(r.namespace).Get(t.Context(), "default", metav1.GetOptions{})
			return err
		}); err != nil {
			t.Fatalf("waiting for the service account of namespace %s: %v", r.namespace, err)
		}
	}
	return runs
}

// playAll plays the runs at the same time.
func playAll(t *testing.T, runs []*run) {
	t.Helper()
	var playing sync.WaitGroup
	for _, r := range runs {
		playing.Go(func() { r.play(t.Context()) })
	}
	playing.Wait()
}

// play carries out the steps. A step that cannot be carried out in time ends the run.
func (r *run) play(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.side.patience())
	defer cancel()
	defer func() { r.after() }()
	for i, step := range r.scenario.Steps {
		r.before(i)
		if err := r.do(ctx, i, step); err != nil {
			r.unmet = fmt.Sprintf("step %d, %s: %v", i, step, err)
			return
		}
	}
}

func (r *run) do(ctx context.Context, at int, step scenarios.Step) error {
	switch step := step.(type) {
	case scenarios.Create:
		return r.create(ctx, fmt.Sprint(at))
	case scenarios.Patch:
		var patched *unstructured.Unstructured
		err := repeat(ctx, func() (err error) {
			patched, err = r.client.Patch(ctx, setName, types.MergePatchType, []byte(step), metav1.PatchOptions{})
			return err
		})
		if err != nil {
			return err
		}
		return r.seen(ctx, patched)
	case scenarios.Delete:
		return r.remove(ctx, metav1.DeletionPropagation(step))
	case scenarios.EndPod:
		return r.endPod(ctx, step)
	case scenarios.PutObject, scenarios.PatchObject, scenarios.DeleteObject:
		return r.byHand(ctx, step)
	case scenarios.Wait:
		return r.await(ctx, step.Missing)
	default:
		return fmt.Errorf("no rule to do %T", step)
	}
}

// create creates the set. If it is there already, it may be by an earlier try.
func (r *run) create(ctx context.Context, try string) error {
	set := r.scenario.Set.DeepCopy()
	set.Annotations = map[string]string{tryMark: try}
	set.Spec.Template.Spec.NodeName = node
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(r.side.resource().GroupVersion().String())
	var made *unstructured.Unstructured
	err = repeat(ctx, func() (err error) {
		made, err = r.client.Create(ctx, object, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		there, failed := r.client.Get(ctx, setName, metav1.GetOptions{})
		if failed == nil && there.GetAnnotations()[tryMark] == try {
			made = there
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.seen(ctx, made)
}

// seen waits until the records have come to an answer: what is waited for next must not
// be found in what there was before.
func (r *run) seen(ctx context.Context, answer *unstructured.Unstructured) error {
	want, err := strconv.ParseInt(answer.GetResourceVersion(), 10, 64)
	if err != nil {
		return err
	}
	return r.await(ctx, func(o scenarios.Observed) string {
		if o.Set != nil {
			if got, err := strconv.ParseInt(o.Set.ResourceVersion, 10, 64); err == nil && got >= want {
				return ""
			}
		}
		return fmt.Sprintf("the records have not come to version %d of the set", want)
	})
}

// await waits until nothing is missing, and says what still is when the context ends.
func (r *run) await(ctx context.Context, missing func(scenarios.Observed) string) error {
	if still := r.until(ctx, missing); still != "" {
		return errors.New(still)
	}
	return nil
}

// remove deletes the set that is there when it is called, and no other.
func (r *run) remove(ctx context.Context, propagation metav1.DeletionPropagation) error {
	set := r.observed().Set
	if set == nil {
		return fmt.Errorf("there is no set")
	}
	return repeat(ctx, func() error {
		err := r.client.Delete(ctx, setName, metav1.DeleteOptions{
			PropagationPolicy: &propagation, Preconditions: metav1.NewUIDPreconditions(string(set.UID)),
		})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	})
}

func (r *run) endPod(ctx context.Context, step scenarios.EndPod) error {
	var ended types.UID
	err := repeat(ctx, func() error {
		for _, pod := range r.observed().Pods {
			if pod.Name == at(step.Ordinal) && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
				ended = pod.UID
				return r.agent.setStatus(ctx, &pod, corev1.PodFailed, corev1.ConditionFalse, step.Reason)
			}
		}
		return fmt.Errorf("there is no running pod %s", at(step.Ordinal))
	})
	if err != nil {
		return err
	}
	return r.await(ctx, func(o scenarios.Observed) string {
		for _, pod := range o.Pods {
			if pod.UID == ended && pod.Status.Phase == corev1.PodRunning {
				return "the records have not come to the end of pod " + pod.Name
			}
		}
		return ""
	})
}

// repeat calls until there is no error, and returns the last one when the context ends.
func repeat(ctx context.Context, call func() error) error {
	for {
		err := call()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// leave removes what the runs have left, pods first, because the node agents end with
// the test: a namespace alone would go only as fast as its pods might.
func leave(t *testing.T, runs []*run) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, r := range runs {
		if r.observed().Set != nil {
			_ = r.remove(ctx, metav1.DeletePropagationBackground)
		}
	}
	for _, r := range runs {
		r.until(ctx, func(o scenarios.Observed) string {
			if o.Set != nil {
				return "the set is there"
			}
			return ""
		})
		_ = r.Host.CoreV1().Pods(r.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		r.until(ctx, func(o scenarios.Observed) string {
			if len(o.Pods) > 0 {
				return "there are pods"
			}
			return ""
		})
		_ = r.Host.CoreV1().Namespaces().Delete(ctx, r.namespace, metav1.DeleteOptions{})
	}
}
