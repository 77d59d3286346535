// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/identity"
)

const (
	// unlabeledPodsInterval is how often a pod that cannot be watched is read.
	unlabeledPodsInterval = 15 * time.Second
	// unlabeledPodsPerSync is how many such pods of a set are read again at once, those first that
	// were last read the longest time ago.
	unlabeledPodsPerSync = 32
	// unlabeledPodsAtOnce is how many of these requests run at the same time.
	unlabeledPodsAtOnce = 16
)

// unlabeledPod is a pod as it was last read; before the first read it has no time. The name of such
// a pod was in use when a pod of the set was to be created, or should have been free, or the watch
// has lost the pod. If the cache has no pod with that name, the pod lacks the label by which the
// controller watches pods: a user removed the label, or the pod was never a member. The planner
// must know it nevertheless, to repair or delete it or to report what is in the way. So it is read
// from the cluster from time to time, until it is deleted or in the cache.
type unlabeledPod struct {
	pod *corev1.Pod
	at  time.Time
}

// addUnlabeledPod records that a name is in use by a pod that must be read.
func (m *setState) addUnlabeledPod(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unlabeled == nil {
		m.unlabeled = map[string]unlabeledPod{}
	}
	m.unlabeled[name] = unlabeledPod{}
}

// recordUnwatchedPod records a pod that the watch no longer shows, although nothing says that it is
// being deleted: a user may have removed its label. If it is not the pod of a desired member, no
// create would fail because of its name, so nothing else would find it.
func (t *term) recordUnwatchedPod(object any, keys []cache.ObjectName) {
	pod, is := object.(*corev1.Pod)
	if !is || pod.DeletionTimestamp != nil {
		return
	}
	for _, key := range keys {
		if set, _, named := identity.ParsePodName(pod.Name); named && set == key.Name {
			t.states.getOrCreate(key).addUnlabeledPod(pod.Name)
		}
	}
}

// isSearched reports whether the term has searched for unlabeled pods of the set.
func (m *setState) isSearched() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.searched
}

func (m *setState) setSearchedPods() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.searched = true
}

// searchUnlabeledPods searches, once in a term, for pods that lost their label while no controller
// watched them: the status counts more pods than the view shows.
func (t *term) searchUnlabeledPods(ctx context.Context, set *v1.StatefulSet, state *setState) error {
	if state.isSearched() {
		return nil
	}
	if len(find[*corev1.Pod](t.view, podsResource, byController, string(set.UID))) >= int(set.Status.Replicas) {
		state.setSearchedPods()
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil // the planner reports it
	}
	unlabeled, err := labels.NewRequirement(appsv1.StatefulSetPodNameLabel, selection.DoesNotExist, nil)
	if err != nil {
		return fmt.Errorf("selecting pods without label: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	pods, err := t.config.Host.CoreV1().Pods(set.Namespace).List(ctx,
		metav1.ListOptions{LabelSelector: selector.Add(*unlabeled).String(), ResourceVersion: "0", Limit: podsInAPage})
	if err != nil {
		return fmt.Errorf("listing pods without label %s: %w", appsv1.StatefulSetPodNameLabel, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		_, labeled := pod.Labels[appsv1.StatefulSetPodNameLabel]
		if name, _, named := identity.ParsePodName(pod.Name); named && name == set.Name && !labeled && metav1.IsControlledBy(pod, set) {
			state.addUnlabeledPod(pod.Name)
		}
	}
	if pods.Continue == "" { // otherwise the next search finds more pods, once these have their labels again
		state.setSearchedPods()
	}
	return nil
}

// unlabeledPodChanged makes the next sync read a pod again that has changed. It ignores names that
// are not recorded.
func (m *setState) unlabeledPodChanged(name string) { m.recordUnlabeledPod(name, nil, time.Time{}) }

// recordUnlabeledPod records what was read.
func (m *setState) recordUnlabeledPod(name string, pod *corev1.Pod, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.unlabeled[name]; ok {
		m.unlabeled[name] = unlabeledPod{pod, at}
	}
}

// unlabeledPodsDue are the names to read now, most urgent first: all that were never read, then
// some that were not read for long.
func (m *setState) unlabeledPodsDue(now time.Time) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due, again []string
	for name, last := range m.unlabeled {
		switch {
		case last.at.IsZero():
			due = append(due, name)
		case now.Sub(last.at) >= unlabeledPodsInterval:
			again = append(again, name)
		}
	}
	slices.SortFunc(again, func(a, b string) int { return m.unlabeled[a].at.Compare(m.unlabeled[b].at) })
	return append(due, again[:min(len(again), unlabeledPodsPerSync)]...)
}

// unlabeledPods are the pods as they were last read, by name.
func (m *setState) unlabeledPods() map[string]*corev1.Pod {
	m.mu.Lock()
	defer m.mu.Unlock()
	pods := make(map[string]*corev1.Pod, len(m.unlabeled))
	for name, last := range m.unlabeled {
		pods[name] = last.pod
	}
	return pods
}

// nextUnlabeledPodsSync is when to read the pods again, zero if there are none.
func (m *setState) nextUnlabeledPodsSync() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.unlabeled) == 0 {
		return 0
	}
	return unlabeledPodsInterval
}

func (m *setState) dropUnlabeledPod(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unlabeled, name)
}

// readUnlabeledPods are the pods that use names of a set and are not in the cache. Those that are
// due are read from the cluster.
func (t *term) readUnlabeledPods(ctx context.Context, state *setState) ([]*corev1.Pod, error) {
	for name := range state.unlabeledPods() {
		if _, ok := get[*corev1.Pod](t.view, podsResource, state.key.Namespace, name); ok {
			state.dropUnlabeledPod(name)
		}
	}
	due := state.unlabeledPodsDue(t.config.Clock.Now())
	errs := hostread.InParallel(ctx, len(due), unlabeledPodsAtOnce, func(i int) error { return t.refreshUnlabeledPod(ctx, state, due[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(state.unlabeledPods())), nil
}

func (t *term) refreshUnlabeledPod(ctx context.Context, state *setState, name string) error {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	pod, err := readLive[*corev1.Pod](ctx, t.kinds.of(podsResource), state.key.Namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		state.dropUnlabeledPod(name)
	case err != nil:
		return err
	case isWatched(pod):
		// The cache is just not up to date yet. Together with its view of the other members, this
		// pod would make up a world that never existed: one in which a lower member that was
		// deleted meanwhile is still ready, so that the next one may be created.
		state.dropUnlabeledPod(name)
		state.wrote(podsResource, pod.ResourceVersion)
		return &staleRead{fmt.Errorf("pod %q is not in the cache yet", name)}
	default:
		state.recordUnlabeledPod(name, pod, t.config.Clock.Now())
	}
	return nil
}

// isWatched reports whether the cache shows a pod, now or later.
func isWatched(pod *corev1.Pod) bool {
	_, labelled := pod.Labels[appsv1.StatefulSetPodNameLabel]
	return labelled
}
