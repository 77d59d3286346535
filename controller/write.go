// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// writeTimeout is how long a write may take. The end of the term does not shorten it.
const writeTimeout = hostread.Timeout

func (e *execution) add(ctx context.Context, kind resource, what subject, object metav1.Object) error {
	return e.do(ctx, create, what, func(ctx context.Context) error {
		version, err := e.term.kinds.of(kind).add(ctx, object)
		if err != nil {
			return err
		}
		e.term.states.getOrCreate(e.key).wrote(kind, version)
		return nil
	})
}

func (e *execution) change(ctx context.Context, kind resource, what subject, object action.Target, change change) error {
	return e.do(ctx, update, what, func(ctx context.Context) error {
		version, err := e.term.kinds.of(kind).change(ctx, e.set.Namespace, object, change)
		if err != nil {
			return err
		}
		e.term.states.getOrCreate(e.key).wrote(kind, version)
		return nil
	})
}

func (e *execution) remove(ctx context.Context, kind resource, what subject, object action.Target) error {
	return e.deleteOrEvict(ctx, kind, what, object, e.term.kinds.of(kind).delete)
}

// deleteOrEvict deletes or evicts an object.
func (e *execution) deleteOrEvict(ctx context.Context, kind resource, what subject, object action.Target,
	by func(ctx context.Context, namespace string, object action.Target) error) error {
	return e.do(ctx, deletion, what, func(ctx context.Context) error {
		if err := by(ctx, e.set.Namespace, object); err != nil {
			return err
		}
		e.term.states.getOrCreate(e.key).removed(kind, object)
		return nil
	})
}

// do begins a write to the cluster when it has a slot, unless the term or the turn is over or the
// set has changed since it was planned for. It distinguishes refusals from answers that require
// another sync.
func (e *execution) do(ctx context.Context, verb verb, what subject, call func(context.Context) error) error {
	if err := e.term.waitDurable(ctx, e.set); err != nil {
		return err
	}
	slot, err := e.term.slots.take(ctx, e.turn, e.key)
	if err != nil {
		return err
	}
	defer e.term.slots.give(slot)
	if err := e.unchanged(); err != nil {
		return err
	}
	return e.term.write(ctx, func(ctx context.Context) error {
		err := call(ctx)
		e.term.gauges.window.Set(float64(e.term.slots.answered(slot, aboutHost(err))))
		switch {
		case err == nil:
			return nil
		case isStaleWrite(verb, err):
			e.term.states.getOrCreate(e.key).unlabeledPodChanged(what.name)
			return &staleRead{fmt.Errorf("%s %s: %w", verb.doing(), what, err)}
		}
		// A terminating namespace takes the set with it, so there is nothing to report.
		if plan.IsNotAllowed(err) {
			e.recordEvent(corev1.EventTypeWarning, v1.ReasonEvictionBlocked, fmt.Sprintf("Could not %s ", verb.asBudgetsAllow()), what,
				": "+plan.Cause(err))
		} else if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			e.recordEvent(corev1.EventTypeWarning, "Failed"+verb.reason(), fmt.Sprintf("Failed to %s ", verb), what, ": "+plan.Cause(err))
		}
		err = fmt.Errorf("%s %s: %w", verb.doing(), what, err)
		klog.FromContext(ctx).Info("Failed to write to the host cluster", "set", e.key, "err", err)
		return err
	})
}

// aboutHost removes an answer that says nothing about the load of the cluster.
func aboutHost(err error) error {
	if plan.IsNotAllowed(err) {
		return nil
	}
	return err
}

// write begins a write if the term still holds. The end of the term does not interrupt a write that
// has begun, so that its outcome is known.
func (t *term) write(ctx context.Context, call func(context.Context) error) error {
	if ctx.Err() != nil {
		return errTermOver
	}
	if err := t.checkLease(); err != nil {
		return fmt.Errorf("%w: %w", errTermOver, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return call(ctx)
}

// generationID is one generation of one set.
type generationID struct {
	uid        types.UID
	generation int64
}

// waitDurable returns when the current generation of the set cannot be lost unnoticed. It asks once
// for each generation in each term.
func (t *term) waitDurable(ctx context.Context, set *v1.StatefulSet) error {
	if t.config.WaitDurable == nil {
		return nil
	}
	state, wanted := t.states.getOrCreate(cache.MetaObjectToName(set)), generationID{set.UID, set.Generation}
	if state.isDurable(wanted) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := t.config.WaitDurable(limited, set.ResourceVersion); err != nil {
		if ctx.Err() != nil {
			return errTermOver
		}
		return fmt.Errorf("waiting until the set is durable before writing to the host cluster: %w", err)
	}
	state.keepDurable(wanted)
	return nil
}

func (m *setState) isDurable(wanted generationID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.durable == wanted
}

func (m *setState) keepDurable(wanted generationID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.durable = wanted
}

// isStaleWrite reports whether the cluster refused a write because the object has changed since it
// was seen. Depending on the code path, the cluster refuses a changed UID as a conflict or as an
// immutable field.
func isStaleWrite(verb verb, err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	if verb == create {
		return apierrors.IsAlreadyExists(err)
	}
	if apierrors.IsNotFound(err) {
		return true
	}
	cause, ok := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return ok && apierrors.IsInvalid(err) && cause.Field == "metadata.uid"
}
