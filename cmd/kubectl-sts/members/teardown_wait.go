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

// departure is how far a set is on its way out.
type departure struct {
	*teardown
	// scaled is the set as it was scaled to 0.
	scaled *v1.StatefulSet
	left   []string
	// waits is what the set or a server said last of why it takes time.
	waits   string
	deleted bool
}

// await waits until the members of a set that is scaled to 0 are gone, deletes it, and waits
// until it is gone itself.
func (t *teardown) await(ctx context.Context, scaled *v1.StatefulSet, pods []string) error {
	bounded := ctx
	if t.patience > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, t.patience)
		defer cancel()
	}
	d := &departure{teardown: t, scaled: scaled, left: pods}
	pauses := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: 10, Cap: 2 * time.Second}
	err := pauses.DelayFunc().Until(bounded, true, true, func(ctx context.Context) (bool, error) {
		gone, err := d.look(ctx)
		if passing(err) {
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

// look reports whether the set is gone, and takes the next step to it.
func (d *departure) look(ctx context.Context) (gone bool, err error) {
	set, err := d.get(ctx, d.scaled.Name)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, err
	case set.UID != d.scaled.UID:
		return true, nil // and another one of the name has come
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
	// Before the controller has seen the 0, it may be about to create a member.
	if len(pods) > 0 || set.Status.ObservedGeneration < d.scaled.Generation || d.deleted {
		return false, nil
	}
	err = d.delete(ctx, set, &set.ResourceVersion)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil && !passing(err) {
		err = fmt.Errorf("deleting set %s/%s: %w", set.Namespace, set.Name, err)
	}
	d.deleted = err == nil
	return false, err
}

// disturbed says what somebody has done that ends the wait.
func (d *departure) disturbed(set *v1.StatefulSet) error {
	if replicas := ptr.Deref(set.Spec.Replicas, 1); replicas != 0 {
		return fmt.Errorf("set %s/%s was scaled to %d meanwhile, so it was not deleted", set.Namespace, set.Name, replicas)
	}
	if err := refusal(set); err != nil {
		return fmt.Errorf("the set stays scaled to 0 and was not deleted: %w", err)
	}
	return nil
}

// progress says which members have gone, or what the set says if none has.
func (d *departure) progress(pods []string, set *v1.StatefulSet) {
	gone := slices.DeleteFunc(slices.Clone(d.left), func(name string) bool { return slices.Contains(pods, name) })
	d.left = pods
	if len(gone) > 0 {
		d.say(set, "%s gone, %d left", strings.Join(gone, ", "), len(pods))
		return
	}
	for _, condition := range set.Status.Conditions {
		if condition.Type == v1.StatefulSetReady && len(pods) > 0 && set.Status.ObservedGeneration >= d.scaled.Generation {
			d.wait(condition.Message)
		}
	}
}

// wait says what is waited for, once.
func (d *departure) wait(text string) {
	if text != d.waits && text != "" {
		d.say(d.scaled, "waiting: %s", text)
	}
	d.waits = text
}

// late says where a wait was given up. To run the command again goes on from there.
func (d *departure) late(interrupted bool) error {
	after, state := "after "+d.patience.String(), "it stays scaled to 0 and was not deleted"
	if interrupted {
		after = "when it was interrupted"
	}
	if d.deleted {
		state = "its deletion has begun"
	}
	text := fmt.Sprintf("%s set %s/%s had %d members%s; %s; run this again to go on", after, d.scaled.Namespace, d.scaled.Name, len(d.left),
		listed(d.left), state)
	if d.waits != "" {
		text += ". It waited: " + d.waits
	}
	return errors.New(text)
}

// passing reports whether an error says only that a server is in trouble.
func passing(err error) bool {
	return err != nil &&
		(apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
			apierrors.IsInternalError(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err))
}
