// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// teardownProgress is the progress of the removal of a set.
type teardownProgress struct {
	*teardown
	// scaled is the set after it was scaled to 0.
	scaled *v1.StatefulSet
	left   []string
	// waits is the last message of the set or of a server about what the command waits for.
	waits   string
	deleted bool
}

// await waits until the pods of a set that is scaled to 0 have terminated, deletes the set, and
// waits until the set is deleted.
func (t *teardown) await(ctx context.Context, scaled *v1.StatefulSet, pods []string) error {
	bounded := ctx
	if t.patience > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, t.patience)
		defer cancel()
	}
	d := &teardownProgress{teardown: t, scaled: scaled, left: pods}
	pauses := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: 10, Cap: 2 * time.Second}
	err := pauses.DelayFunc().Until(bounded, true, true, func(ctx context.Context) (bool, error) {
		gone, err := d.poll(ctx)
		if isTransient(err) {
			d.wait(err.Error())
			return false, nil
		}
		return gone, err
	})
	if err == nil || bounded.Err() == nil {
		return err
	}
	return d.late(ctx.Err() != nil)
}

// poll reports whether the set is deleted, and takes the next step towards that.
func (d *teardownProgress) poll(ctx context.Context) (gone bool, err error) {
	set, err := d.get(ctx, d.scaled.Name)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, err
	case set.UID != d.scaled.UID:
		return true, nil // and another set of the same name exists
	case set.DeletionTimestamp != nil:
		d.wait(fmt.Sprintf("the set is being deleted, finalizers: %s", strings.Join(set.Finalizers, ", ")))
		return false, nil
	}
	if err := d.disturbed(set); err != nil {
		return false, err
	}
	pods, err := d.pods(ctx, set)
	if err != nil {
		return false, err
	}
	d.progress(pods, set)
	// Before the controller has observed the scale to 0, it may be about to create a member.
	if len(pods) > 0 || set.Status.ObservedGeneration < d.scaled.Generation || d.deleted {
		return false, nil
	}
	err = d.delete(ctx, set, &set.ResourceVersion)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil && !isTransient(err) {
		err = fmt.Errorf("deleting set %s/%s: %w", set.Namespace, set.Name, err)
	}
	d.deleted = err == nil
	return false, err
}

// disturbed returns an error if another client has changed the set so that waiting is useless.
func (d *teardownProgress) disturbed(set *v1.StatefulSet) error {
	if replicas := ptr.Deref(set.Spec.Replicas, 1); replicas != 0 {
		return fmt.Errorf("set %s/%s was scaled to %d in the meantime, so it was not deleted", set.Namespace, set.Name, replicas)
	}
	if err := refusal(set); err != nil {
		return fmt.Errorf("the set stays scaled to 0 and was not deleted: %w", err)
	}
	return nil
}

// progress prints which members are gone since the last call, or else the message of the set.
func (d *teardownProgress) progress(pods []string, set *v1.StatefulSet) {
	gone := slices.DeleteFunc(slices.Clone(d.left), func(name string) bool { return slices.Contains(pods, name) })
	d.left = pods
	if len(gone) > 0 {
		d.printf(set, "%s terminated, %d left", strings.Join(gone, ", "), len(pods))
		return
	}
	for _, condition := range set.Status.Conditions {
		if condition.Type == v1.StatefulSetReady && len(pods) > 0 && set.Status.ObservedGeneration >= d.scaled.Generation {
			d.wait(condition.Message)
		}
	}
}

// wait prints what the command waits for, if that has changed.
func (d *teardownProgress) wait(text string) {
	if text != d.waits && text != "" {
		d.printf(d.scaled, "waiting: %s", text)
	}
	d.waits = text
}

// late returns the state at which the command gave up. The same command continues from there.
func (d *teardownProgress) late(interrupted bool) error {
	after, state := "timed out after "+d.patience.String(), "it stays scaled to 0 and was not deleted"
	if interrupted {
		after = "interrupted"
	}
	if d.deleted {
		state = "its deletion has begun"
	}
	text := fmt.Sprintf("%s, while set %s/%s had %d members%s; %s; run this again to continue", after, d.scaled.Namespace, d.scaled.Name, len(d.left),
		listed(d.left), state)
	if d.waits != "" {
		text += ". Last message: " + d.waits
	}
	return errors.New(text)
}

// isTransient reports whether an error means that a server has a temporary problem.
func isTransient(err error) bool {
	return err != nil &&
		(apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
			apierrors.IsInternalError(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err))
}
