// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// inPlaceNote is what the annotation of a pod says of its update in place. It is written
// together with what restarts the containers, so that either both are so or none is.
type inPlaceNote struct {
	// Revisions are the one that the pod had and the one that it gets, which is that of its
	// label.
	Revisions []string `json:"revisions"`
	Since     string   `json:"since"`
	// Containers are the containers that are restarted, with the ID that each had before,
	// empty if it had none. Nothing else tells a container of the new image from one of the
	// old: two tags may name the same image, and be shown under either name.
	Containers map[string]string `json:"containers"`
	// Resources are the cpu and the memory that containers are to have otherwise. They are
	// given to the pod when this has been written, and are here as long as it cannot be said
	// that the containers have them, so that no change of mind leaves any of them behind.
	Resources map[string]corev1.ResourceRequirements `json:"resources,omitempty"`
	// ResizeRestarts is true if a container is restarted for these.
	ResizeRestarts bool `json:"resizeRestarts,omitempty"`
}

// isRestarting reports whether containers of a pod are being restarted or resized for an update. Such
// a member pays for that from the first moment on, ready as its pod may be.
func isRestarting(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	_, noted := pod.Annotations[v1.InPlaceAnnotation]
	return noted
}

// noteOf reads the annotation of a pod. One that cannot be read names no container, as
// nobody has written it here.
func noteOf(pod *corev1.Pod) inPlaceNote {
	var note inPlaceNote
	if json.Unmarshal([]byte(pod.Annotations[v1.InPlaceAnnotation]), &note) != nil || note.begun().IsZero() {
		return inPlaceNote{}
	}
	return note
}

// begun is when the pod was changed, zero if that cannot be read.
func (n inPlaceNote) begun() time.Time {
	at, err := time.Parse(time.RFC3339, n.Since)
	if err != nil {
		return time.Time{}
	}
	return at
}

// text is the note as the annotation has it.
func (n inPlaceNote) text() string {
	written, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(written)
}

// nextNote is the note of a pod that gets another revision, by a change that restarts or
// resizes containers. Those that have yet to be for an earlier one stay in it.
func nextNote(pod *corev1.Pod, to string, change *identity.InPlaceChange, now time.Time) inPlaceNote {
	note := inPlaceNote{Revisions: []string{revisionOf(pod), to}, Since: words.Clock(now), Containers: map[string]string{}}
	if before := noteOf(pod); isRestarting(pod) {
		for _, name := range before.awaited(pod) {
			note.Containers[name] = before.Containers[name]
		}
		note.Resources, note.ResizeRestarts = before.Resources, before.ResizeRestarts
	}
	for _, images := range []map[string]string{change.Images, change.Sidecars} {
		for name := range images {
			note.Containers[name] = containerOf(pod, name).ContainerID
		}
	}
	note.Resources, note.ResizeRestarts = mergedResources(note.Resources, change.Resources), note.ResizeRestarts || change.ResizeRestarts
	return note
}

// awaited are the containers that have yet to be restarted, by name.
func (n inPlaceNote) awaited(pod *corev1.Pod) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(n.Containers)) {
		if id := containerOf(pod, name).ContainerID; id == "" || id == n.Containers[name] {
			names = append(names, name)
		}
	}
	return names
}

// isDone reports whether all containers have been restarted and resized. How they do is then
// told by the pod's readiness, as of any other pod.
func (n inPlaceNote) isDone(pod *corev1.Pod) bool {
	return isObserved(pod) && len(n.awaited(pod)) == 0 && n.isResized(pod)
}

// lastStart is when the last of the containers that were changed was started, zero if it is
// not known of any. One that is resized need not be started anew.
func (n inPlaceNote) lastStart(pod *corev1.Pod) (last time.Time) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(n.Containers)), slices.Collect(maps.Keys(n.Resources))) {
		if running := containerOf(pod, name).State.Running; running != nil && running.StartedAt.After(last) {
			last = running.StartedAt.Time
		}
	}
	return last
}

// mayChange reports whether the pod may be given yet another revision: its node has ended
// the containers of the one before last, or never started them. Before that it might find
// an image that it runs already, and restart nothing. A resize is what it is whenever the node
// comes to see it.
func (n inPlaceNote) mayChange(pod *corev1.Pod) bool {
	if len(n.Containers) == 0 {
		return true
	}
	return isObserved(pod) && !slices.ContainsFunc(n.awaited(pod), func(name string) bool {
		return n.Containers[name] != "" && containerOf(pod, name).State.Waiting == nil
	})
}

// hangs reports whether containers have yet to be restarted, and their node has ended those of before, or
// never started them, and waits for what may not come, such as an image.
func (n inPlaceNote) hangs(pod *corev1.Pod) bool {
	return len(n.awaited(pod)) > 0 && n.mayChange(pod)
}

// isObserved reports whether the status of a pod is about its present spec, as far as the
// host tells: those before Kubernetes 1.34 do not. Of a pod that has no node nobody has to.
func isObserved(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" || pod.Status.ObservedGeneration == 0 || pod.Status.ObservedGeneration >= pod.Generation
}

// containerOf is what the status of a pod says of a container or an init container, the
// zero value if it says nothing.
func containerOf(pod *corev1.Pod, name string) corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == name {
				return statuses[i]
			}
		}
	}
	return corev1.ContainerStatus{}
}

// tell says which containers of a pod are restarted or resized since when, and what is wrong
// with it.
func (n inPlaceNote) tell(pod *corev1.Pod) string {
	what := "its containers restart"
	if names := n.awaited(pod); len(names) > 0 {
		what = containersText(names, "restarts", "restart")
	} else if names := n.unresized(pod); len(names) > 0 {
		what = containersText(names, "is", "are") + " resized"
	}
	what += " in place"
	if at := n.begun(); !at.IsZero() {
		what += " since " + words.Clock(at)
	}
	if wrong := symptom(pod); wrong != "" {
		what += "; " + wrong
	}
	if len(n.Resources) > 0 {
		what += nodeSays(pod)
	}
	return what
}

// tellVain says which containers of a pod should have been restarted by now.
func (n inPlaceNote) tellVain(pod *corev1.Pod) string {
	return fmt.Sprintf("%s not been restarted since %s", containersText(n.awaited(pod), "has", "have"), words.Clock(n.begun()))
}

// containersText names containers in a message, with the verb that goes with one of them or with
// many.
func containersText(names []string, verb, verbOfMany string) string {
	what := "container "
	if len(names) > 1 {
		what, verb = "containers ", verbOfMany
	}
	var few []string
	for _, name := range names[:min(len(names), words.FewNames)] {
		few = append(few, words.Foreign(name))
	}
	return what + strings.Join(few, ", ") + " " + verb
}
