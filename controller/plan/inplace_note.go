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

// inPlaceNote is the record of an update in place, which an annotation of the pod contains. It is
// written together with the change that restarts the containers, so that either both take effect or
// neither does.
type inPlaceNote struct {
	// Revisions are the previous revision of the pod and the new one, which is that of its label.
	Revisions []string `json:"revisions"`
	Since     string   `json:"since"`
	// Containers are the containers that are restarted, with the ID that each had before, empty if
	// it had none. Nothing else distinguishes a container with the new image from one with the old
	// image: two tags may name the same image, and the status may show either name.
	Containers map[string]string `json:"containers"`
	// Resources are the new cpu and memory of containers. The pod gets them after this has been
	// written. They stay here until the containers certainly have them, so that none of them is
	// left behind if the set changes again.
	Resources map[string]corev1.ResourceRequirements `json:"resources,omitempty"`
	// ResizeRestarts is true if the resize restarts a container.
	ResizeRestarts bool `json:"resizeRestarts,omitempty"`
}

// isRestarting reports whether containers of a pod are being restarted or resized for an update.
// Such a member counts against the disruption budget from the first moment, even while its pod is
// ready.
func isRestarting(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	_, noted := pod.Annotations[v1.InPlaceAnnotation]
	return noted
}

// noteOf reads the annotation of a pod. An annotation that cannot be read names no container,
// because this controller has not written it.
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

// text is the record as the value of the annotation.
func (n inPlaceNote) text() string {
	written, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(written)
}

// nextNote is the record for a pod that gets another revision by a change that restarts or resizes
// containers. Containers that have yet to be restarted or resized for an earlier revision stay in
// it.
func nextNote(pod *corev1.Pod, to string, change *identity.InPlaceChange, now time.Time) inPlaceNote {
	note := inPlaceNote{Revisions: []string{revisionOf(pod), to}, Since: words.Timestamp(now), Containers: map[string]string{}}
	if before := noteOf(pod); isRestarting(pod) {
		for _, name := range before.unrestarted(pod) {
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

// unrestarted are the containers that have yet to be restarted, by name.
func (n inPlaceNote) unrestarted(pod *corev1.Pod) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(n.Containers)) {
		if id := containerOf(pod, name).ContainerID; id == "" || id == n.Containers[name] {
			names = append(names, name)
		}
	}
	return names
}

// isDone reports whether all containers have been restarted and resized. After that, the pod's
// readiness shows their health, as for any other pod.
func (n inPlaceNote) isDone(pod *corev1.Pod) bool {
	return isObserved(pod) && len(n.unrestarted(pod)) == 0 && n.isResized(pod)
}

// lastStart is when the last of the changed containers was started, zero if that is not known for
// any of them. A container that is resized need not restart.
func (n inPlaceNote) lastStart(pod *corev1.Pod) (last time.Time) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(n.Containers)), slices.Collect(maps.Keys(n.Resources))) {
		if running := containerOf(pod, name).State.Running; running != nil && running.StartedAt.After(last) {
			last = running.StartedAt.Time
		}
	}
	return last
}

// mayChange reports whether the pod may get yet another revision: its node has stopped the
// containers of the revision before, or never started them. Otherwise the node might find that it
// already runs the new image, and restart nothing. A resize does not depend on when the node
// observes it.
func (n inPlaceNote) mayChange(pod *corev1.Pod) bool {
	if len(n.Containers) == 0 {
		return true
	}
	return isObserved(pod) && !slices.ContainsFunc(n.unrestarted(pod), func(name string) bool {
		return n.Containers[name] != "" && containerOf(pod, name).State.Waiting == nil
	})
}

// hangs reports whether containers have yet to be restarted, although their node has stopped the
// previous ones, or never started them, and waits for something that may never come, such as an
// image.
func (n inPlaceNote) hangs(pod *corev1.Pod) bool {
	return len(n.unrestarted(pod)) > 0 && n.mayChange(pod)
}

// isObserved reports whether the status of a pod reflects its current spec, as far as the cluster
// reports that: Kubernetes before 1.34 does not. A pod without a node counts as observed.
func isObserved(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" || pod.Status.ObservedGeneration == 0 || pod.Status.ObservedGeneration >= pod.Generation
}

// containerOf is the status of a container or an init container of a pod, the zero value if it has
// none.
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

// progressText describes which containers of a pod are restarted or resized since when, and the
// problem of the pod, if it has one.
func (n inPlaceNote) progressText(pod *corev1.Pod) string {
	what := "its containers are restarting"
	if names := n.unrestarted(pod); len(names) > 0 {
		what = containersText(names, "is", "are") + " restarting"
	} else if names := n.unresized(pod); len(names) > 0 {
		what = containersText(names, "is", "are") + " being resized"
	}
	what += " in place"
	if at := n.begun(); !at.IsZero() {
		what += " (since " + words.Timestamp(at) + ")"
	}
	if wrong := symptom(pod); wrong != "" {
		what += "; " + wrong
	}
	if len(n.Resources) > 0 {
		what += nodeSays(pod)
	}
	return what
}

// unrestartedText describes which containers of a pod should have been restarted by now.
func (n inPlaceNote) unrestartedText(pod *corev1.Pod) string {
	return fmt.Sprintf("%s not been restarted since %s", containersText(n.unrestarted(pod), "has", "have"), words.Timestamp(n.begun()))
}

// containersText names containers in a message, with the verb for one container or for several.
func containersText(names []string, verb, verbOfMany string) string {
	what := "container "
	if len(names) > 1 {
		what, verb = "containers ", verbOfMany
	}
	var few []string
	for _, name := range names[:min(len(names), words.FewNames)] {
		few = append(few, words.Sanitize(name))
	}
	return what + strings.Join(few, ", ") + " " + verb
}
