// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

const revisionLabel = "controller-revision-hash"

// inPlacePolicy is how the set asks for updates in place, empty if it does not.
func (f evidence) inPlacePolicy() v1.InPlaceUpdatePolicyType {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	if f.strategy() != v1.RollingUpdateStatefulSetStrategyType || rolling == nil || rolling.InPlace == nil {
		return ""
	}
	return rolling.InPlace.Policy
}

// noted is what the annotation of a pod says of the containers that are restarted, and
// whether there is one.
func noted(pod *corev1.Pod) (containers map[string]string, is bool) {
	text, is := pod.Annotations[v1.InPlaceAnnotation]
	var note struct {
		Containers map[string]string `json:"containers"`
	}
	if json.Unmarshal([]byte(text), &note) != nil {
		return nil, is
	}
	return note.Containers, is
}

// ids are the IDs of the containers of a pod.
func ids(pod *corev1.Pod) map[string]string {
	all := map[string]string{}
	for _, c := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		all[c.Name] = c.ContainerID
	}
	return all
}

// updatesBegun are the removals for an update, and the changes that restart containers as if
// they were removals, of pods that serve, as far as their containers are not being restarted.
func (j *judged) updatesBegun() (all []action.DeletePod) {
	for _, act := range j.actions() {
		var begun action.DeletePod
		switch a := act.(type) {
		case action.DeletePod:
			begun = a
		case action.UpdateInPlace:
			begun = action.DeletePod{Ordinal: a.Ordinal, Pod: a.Pod, Reason: action.DeleteForUpdate, Turn: a.Turn}
			if pod := j.pods[a.Pod.Name]; !disturbs(a) || pod != nil && j.mayUnblock(pod, a.Ordinal) {
				continue
			}
		default:
			continue
		}
		if pod := j.pods[begun.Pod.Name]; pod != nil && forUpdate(begun) {
			if _, restarts := noted(pod); !restarts {
				all = append(all, begun)
			}
		}
	}
	return all
}

// inPlace: a pod is changed only for an update that may reach it, to what the revision of
// its member has, and whatever restarts a container is noted with it; where the set allows
// nothing else, no pod is removed for an update.
func (j *judged) inPlace() {
	policy := j.inPlacePolicy()
	for _, act := range planned[action.UpdateInPlace](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil {
			continue
		}
		_, restarts := noted(pod)
		rolls := j.strategy() == v1.RollingUpdateStatefulSetStrategyType && !j.rests() && (policy != "" || restarts)
		if may := j.mayTake(pod, act.Ordinal) || j.mayUnblock(pod, act.Ordinal); !rolls || !may || !j.mine(pod) || pod.DeletionTimestamp != nil ||
			j.isMisshapen(act.Ordinal) {
			j.broke("in place", "%s, which is at %s of a set with policy %q", act, revisionAt(pod), policy)
		}
		j.changedRight(act, pod)
		unasked := act.Otherwise == nil && !disturbs(act) && j.Set.Spec.Disruption != nil // no gate is asked about a change of labels
		if removal := act.Otherwise; !unasked && (removal == nil) != (policy == v1.OnlyInPlaceUpdatePolicyType) ||
			removal != nil && removal.Pod != act.Pod {
			j.broke("in place or not", "%s, and otherwise %v, with policy %q", act, removal, policy)
		}
	}
	for _, act := range planned[action.DeletePod](j) {
		if policy == v1.OnlyInPlaceUpdatePolicyType && (forUpdate(act) || act.Reason == action.DeleteUnready || isGivenUp(act)) {
			j.broke("only in place", "%s", act)
		}
	}
	j.endsInPlace()
	j.vainBudget()
}

// changedRight: the pod gets the image and the label of one revision, and the IDs noted are
// those that its containers have.
func (j *judged) changedRight(act action.UpdateInPlace, pod *corev1.Pod) {
	want, image := j.goal(act.Ordinal), pod.Spec.Containers[0].Image
	if given, changes := act.Images[pod.Spec.Containers[0].Name]; changes {
		image = given
	}
	if label := act.Labels[revisionLabel]; label == nil || *label != want || act.Revision != want || image != j.imageOf(want) {
		j.broke("what a label says", "%s gets image %s and the labels %v, want those of %s", act, image, act.Labels, want)
	}
	changed := pod.DeepCopy()
	if text := act.Annotations[v1.InPlaceAnnotation]; text != nil {
		changed.Annotations = map[string]string{v1.InPlaceAnnotation: *text}
	} else {
		changed.Annotations = nil
	}
	before, now := maps.Clone(act.Images), ids(pod)
	for name := range before {
		before[name] = now[name]
	}
	containers, notes := noted(changed)
	if disturbs(act) && !notes || len(act.Images) > 0 && !maps.Equal(containers, before) {
		j.broke("noted restarts", "%s notes %v, want %v", act, containers, before)
	}
	if old, restarts := noted(pod); restarts && !j.hasActed(pod, old) {
		j.broke("one restart at a time", "%s, whose containers %v have yet to become others than %v", act, now, old)
	}
}

// hasActed reports whether a node has ended the containers that are to be restarted.
func (f evidence) hasActed(pod *corev1.Pod, before map[string]string) bool {
	if len(before) == 0 {
		return true
	}
	for _, c := range pod.Status.ContainerStatuses {
		if id, awaited := before[c.Name]; awaited && id != "" && id == c.ContainerID && c.State.Waiting == nil {
			return false
		}
	}
	return pod.Spec.NodeName == "" || pod.Status.ObservedGeneration == 0 || pod.Status.ObservedGeneration >= pod.Generation
}

// hangs reports whether a node has ended containers that are to be restarted, or never started them, and has
// yet to start others.
func (f evidence) hangs(pod *corev1.Pod) bool {
	before, _ := noted(pod)
	return f.hasActed(pod, before) && len(yetToRestart(pod)) > 0
}

// yetToRestart are the containers of a pod that are to be restarted and have no other ID than before.
func yetToRestart(pod *corev1.Pod) (names []string) {
	before, _ := noted(pod)
	now := ids(pod)
	for name, id := range before {
		if now[name] == "" || now[name] == id {
			names = append(names, name)
		}
	}
	return names
}

// endsInPlace: what was noted goes when each container has another ID, and the node has
// seen the change.
func (j *judged) endsInPlace() {
	for _, act := range planned[action.EndInPlace](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil {
			continue
		}
		before, restarts := noted(pod)
		for _, name := range yetToRestart(pod) {
			j.broke("end of a restart", "%s, whose container %s has ID %q, and had %q", act, name, ids(pod)[name], before[name])
		}
		if left := j.settling(pod); left > 0 {
			j.broke("end of a restart", "%s, which has to be ready for %s more", act, left)
		}
		if !restarts || pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation {
			j.broke("end of a restart", "%s, which is seen at generation %d of %d", act, pod.Status.ObservedGeneration, pod.Generation)
		}
	}
}

// labelsTell: the label of a pod says what image it has, at any time.
func (j *judged) labelsTell() {
	for _, pod := range j.Pods {
		if image := j.imageOf(pod.Labels[revisionLabel]); j.mine(pod) && image != "" && pod.Spec.Containers[0].Image != image {
			j.broke("what a label says", "pod %s has image %s, and revision %s has %s", pod.Name, pod.Spec.Containers[0].Image,
				pod.Labels[revisionLabel], image)
		}
	}
}

// settling is for how long a pod that is ready, and was before a container of it was
// restarted, has yet to be so to count as available.
func (j *judged) settling(pod *corev1.Pod) time.Duration {
	if j.Set.Spec.MinReadySeconds == 0 { // available at once, even if the node's clock is ahead of ours
		return 0
	}
	since, is := ready(pod)
	before, _ := noted(pod)
	var left time.Duration
	for _, c := range pod.Status.ContainerStatuses {
		if _, restarts := before[c.Name]; restarts && is && c.State.Running != nil && c.State.Running.StartedAt.After(since) {
			left = max(left, c.State.Running.StartedAt.Add(time.Duration(j.Set.Spec.MinReadySeconds)*time.Second).Sub(j.Now))
		}
	}
	return left
}
