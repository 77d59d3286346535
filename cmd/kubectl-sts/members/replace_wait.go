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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// replaceProgress is the progress of members that are being replaced.
type replaceProgress struct {
	*replacement
	// before has the pods from before the replacement.
	before map[string]*corev1.Pod
	left   []string
	// waits is the last message of the set about what it waits for.
	waits string
}

// await waits until all members have new pods that are ready.
func (r *replacement) await(ctx context.Context, before map[string]*corev1.Pod) error {
	bounded := ctx
	if r.patience > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, r.patience)
		defer cancel()
	}
	a := &replaceProgress{replacement: r, before: before, left: r.names()}
	pauses := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: 10, Cap: 2 * time.Second}
	err := pauses.DelayFunc().Until(bounded, true, true, func(ctx context.Context) (bool, error) {
		back, err := a.poll(ctx)
		if isTransient(err) {
			return false, nil
		}
		return back, err
	})
	if err == nil || bounded.Err() == nil {
		return err
	}
	after := "timed out after " + r.patience.String()
	if ctx.Err() != nil {
		after = "interrupted"
	}
	text := fmt.Sprintf("%s, while members %s were not back; the controller continues without this command", after, strings.Join(a.left, ", "))
	if a.waits != "" {
		text += ". Last message of the set: " + a.waits
	}
	return errors.New(text)
}

// poll reports whether all members are back, and prints which have returned since the last call.
func (a *replaceProgress) poll(ctx context.Context) (back bool, err error) {
	var left []string
	for _, name := range a.left {
		pod, err := a.host.CoreV1().Pods(a.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		old := a.before[name]
		if err != nil || old != nil && pod.UID == old.UID || !isReady(pod) {
			left = append(left, name)
			continue
		}
		a.printf("%s is back", name)
	}
	a.left = left
	if len(left) == 0 {
		return true, nil
	}
	return false, a.printWaiting(ctx)
}

// printWaiting prints what the set waits for, if that has changed.
func (a *replaceProgress) printWaiting(ctx context.Context) error {
	set, err := a.sets.AppsV1().StatefulSets(a.namespace).Get(ctx, a.set, metav1.GetOptions{})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(set.Status.Conditions, func(c v1.StatefulSetCondition) bool { return c.Type == v1.StatefulSetReady })
	if at >= 0 && set.Status.Conditions[at].Status != corev1.ConditionTrue && set.Status.Conditions[at].Message != a.waits {
		a.waits = set.Status.Conditions[at].Message
		a.printf("waiting: %s", a.waits)
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && identity.IsReady(pod)
}
