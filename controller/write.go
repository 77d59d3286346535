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

// writeTimeout is how long a write may take. It is not cut short by the end of the term.
const writeTimeout = hostread.Timeout

func (e *execution) add(ctx context.Context, kind resource, what subject, object metav1.Object) error {
	return e.do(ctx, create, what, func(ctx context.Context) error {
		version, err := e.term.kinds.of(kind).add(ctx, object)
		if err != nil {
			return err
		}
		e.term.memory.of(e.key).wrote(kind, version)
		return nil
	})
}

func (e *execution) change(ctx context.Context, kind resource, what subject, object action.Target, change change) error {
	return e.do(ctx, update, what, func(ctx context.Context) error {
		version, err := e.term.kinds.of(kind).change(ctx, e.set.Namespace, object, change)
		if err != nil {
			return err
		}
		e.term.memory.of(e.key).wrote(kind, version)
		return nil
	})
}

func (e *execution) remove(ctx context.Context, kind resource, what subject, object action.Target) error {
	return e.takeAway(ctx, kind, what, object, e.term.kinds.of(kind).delete)
}

// takeAway removes an object in one way or another.
func (e *execution) takeAway(ctx context.Context, kind resource, what subject, object action.Target,
	by func(ctx context.Context, namespace string, object action.Target) error) error {
	return e.do(ctx, deletion, what, func(ctx context.Context) error {
		if err := by(ctx, e.set.Namespace, object); err != nil {
			return err
		}
		e.term.memory.of(e.key).removed(kind, object)
		return nil
	})
}

// do begins a write to the host when it has a slot, unless the term or the turn is over
// or the set is not what the plan was made for, and tells refusals from answers that mean look again.
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
		case saysStale(verb, err):
			e.term.memory.of(e.key).unlabeledPodChanged(what.name)
			return &staleRead{fmt.Errorf("%s %s: %w", verb.doing(), what, err)}
		}
		// A namespace that is going away takes the set with it: nothing to tell.
		if plan.IsNotAllowed(err) {
			e.note(corev1.EventTypeWarning, v1.ReasonEvictionBlocked, fmt.Sprintf("Could not %s ", verb.asBudgetsAllow()), what,
				": "+plan.Cause(err))
		} else if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			e.note(corev1.EventTypeWarning, "Failed"+verb.reason(), fmt.Sprintf("Failed to %s ", verb), what, ": "+plan.Cause(err))
		}
		err = fmt.Errorf("%s %s: %w", verb.doing(), what, err)
		klog.FromContext(ctx).Info("A write to the host failed", "set", e.key, "err", err)
		return err
	})
}

// aboutHost is an answer without what says nothing of how much work the host has.
func aboutHost(err error) error {
	if plan.IsNotAllowed(err) {
		return nil
	}
	return err
}

// write begins a write if the term still holds. Once begun, it is not broken off
// when the term ends, so that its outcome is known.
func (t *term) write(ctx context.Context, call func(context.Context) error) error {
	if ctx.Err() != nil {
		return errTermOver
	}
	if err := t.holds(); err != nil {
		return fmt.Errorf("%w: %w", errTermOver, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return call(ctx)
}

// incarnation is a set as the user last wanted it.
type incarnation struct {
	uid        types.UID
	generation int64
}

// waitDurable returns when what the user wants of the set cannot get lost unnoticed. It
// asks once for each generation in each term.
func (t *term) waitDurable(ctx context.Context, set *v1.StatefulSet) error {
	if t.WaitDurable == nil {
		return nil
	}
	known, wanted := t.memory.of(cache.MetaObjectToName(set)), incarnation{set.UID, set.Generation}
	if known.isDurable(wanted) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := t.WaitDurable(limited, set.ResourceVersion); err != nil {
		if ctx.Err() != nil {
			return errTermOver
		}
		return fmt.Errorf("before anything is written to the host: %w", err)
	}
	known.keepDurable(wanted)
	return nil
}

func (m *memo) isDurable(wanted incarnation) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.durable == wanted
}

func (m *memo) keepDurable(wanted incarnation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.durable = wanted
}

// saysStale reports whether the host refused because the object is not as it
// was seen. A changed UID is refused as a conflict by some of its paths, and as an
// immutable field by others.
func saysStale(verb verb, err error) bool {
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
