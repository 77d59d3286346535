// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// restarts is the oracle for docs/in-place.md: a pod that is updated in place gets its grace period
// to restart before the controller recreates it.
type restarts struct {
	begun map[types.UID]begun
}

// begun is an update in place of a pod.
type begun struct {
	at         time.Time
	generation int64
	containers string
}

func newRestarts() *restarts { return &restarts{map[types.UID]begun{}} }

func (*restarts) name() string { return "restart" }

// clockError is how wrong the clock of a controller may be.
const clockError = 60 * 24 * time.Hour

func (o *restarts) changed(j *Judge, before, after *Scene, by Actor) { //nolint:gocyclo // each condition is one reason to say nothing
	if before == nil || by != Controller || !works(after.Set) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(before.Pods)) {
		was, now := before.Pods[name], after.Pods[name]
		gone := now == nil || now.UID != was.UID || now.DeletionTimestamp != nil
		if was.DeletionTimestamp != nil {
			continue
		}
		if !gone {
			if images(was) != images(now) {
				o.begun[now.UID] = begun{at: after.Now, generation: after.Set.Generation, containers: containers(now)}
			}
			continue
		}
		b, is := o.begun[was.UID]
		n, member := ordinal(after.Set, name)
		if !is || !member || !isDesired(after.Set, n) || b.generation != after.Set.Generation || b.containers != containers(was) ||
			!isReady(was) || len(after.Set.Status.Replacements) > 0 {
			continue
		}
		if left := grace(was) - after.Now.Sub(b.at); left > clockError {
			j.broken(o, "early: pod %s was recreated %s after its update in place began, but may take %d seconds to restart",
				name, after.Now.Sub(b.at), *was.Spec.TerminationGracePeriodSeconds)
		}
	}
}

func images(pod *corev1.Pod) (text string) {
	for _, c := range pod.Spec.Containers {
		text += c.Name + "=" + c.Image + ";"
	}
	return text
}

// containers returns the running containers.
func containers(pod *corev1.Pod) (text string) {
	for _, c := range pod.Status.ContainerStatuses {
		text += c.ContainerID + ";"
	}
	return text
}
