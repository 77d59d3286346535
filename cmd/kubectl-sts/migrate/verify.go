// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/identity"
)

// snapshot is the state that must be the same before and after a move.
type snapshot struct {
	pods   map[string]podRun
	claims map[string]types.UID
	// update is the revision of the template; members that did not run it may have been
	// replaced by the update.
	update string
	// wanted reports whether the set should have a member with this ordinal.
	wanted func(ordinal int) bool
}

// podRun identifies one run of a pod.
type podRun struct {
	uid      types.UID
	started  string
	restarts string
	revision string
	leaving  bool
}

func (s *situation) snapshot() (snapshot, error) {
	p := snapshot{pods: map[string]podRun{}, claims: map[string]types.UID{}}
	for i := range s.pods {
		p.pods[s.pods[i].Name] = podRunOf(&s.pods[i])
	}
	for i := range s.claims {
		p.claims[s.claims[i].Name] = s.claims[i].UID
	}
	set, err := s.ours, error(nil)
	if s.theirs != nil {
		set, err = toOurs(s.theirs)
		p.update = s.theirs.Status.UpdateRevision
	} else {
		p.update = s.ours.Status.UpdateRevision
	}
	if err != nil {
		return snapshot{}, err
	}
	p.wanted = identity.OrdinalsOf(set).Contains
	return p, nil
}

// surplus reports whether a pod or a claim belongs to a surplus member.
func (p snapshot) surplus(name string) bool {
	_, ordinal, _ := identity.ParsePodName(name)
	return !p.wanted(ordinal)
}

func podRunOf(pod *corev1.Pod) podRun {
	l := podRun{uid: pod.UID, revision: pod.Labels[identity.RevisionLabel], leaving: pod.DeletionTimestamp != nil}
	if pod.Status.StartTime != nil {
		l.started = pod.Status.StartTime.UTC().String()
	}
	for _, container := range pod.Status.ContainerStatuses {
		l.restarts += fmt.Sprintf("%s:%d ", container.Name, container.RestartCount)
	}
	return l
}

// compare returns the differences: those that the set's own update explains, and those that nothing
// explains.
func compare(before, after snapshot) (explained, unexplained []string) {
	for _, name := range sortedKeys(before.pods) {
		was, is := before.pods[name], after.pods[name]
		switch {
		case sameRun(was, is):
		case was.leaving, is.uid == "" && before.surplus(name), was.updatedTo(is, after.update):
			explained = append(explained, fmt.Sprintf("pod %s was replaced by the update or the scale-down that was in progress", name))
		case is.uid == "":
			unexplained = append(unexplained, fmt.Sprintf("pod %s does not exist any more", name))
		case is.uid != was.uid:
			unexplained = append(unexplained, fmt.Sprintf("pod %s is not the same pod as before", name))
		default:
			unexplained = append(unexplained, fmt.Sprintf("pod %s has restarted: it started at %s with restarts %q, but before at %s with %q", name,
				is.started, strings.TrimSpace(is.restarts), was.started, strings.TrimSpace(was.restarts)))
		}
	}
	return explained, append(unexplained, compareClaims(before, after)...)
}

// sameRun reports whether a pod has kept running, or has started for the first time.
func sameRun(was, is podRun) bool {
	return is.uid == was.uid && (was.started == "" || is.started == was.started && is.restarts == was.restarts)
}

// updatedTo reports whether the update has removed a pod, and perhaps replaced it.
func (l podRun) updatedTo(is podRun, update string) bool {
	return is.uid != l.uid && l.revision != update && (is.uid == "" || is.revision == update)
}

func compareClaims(before, after snapshot) (unexplained []string) {
	for _, name := range sortedKeys(before.claims) {
		if is, ok := after.claims[name]; is != before.claims[name] && (ok || !before.surplus(name)) {
			unexplained = append(unexplained, fmt.Sprintf("claim %s is not the same claim as before", name))
		}
	}
	return unexplained
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
