// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// disturbs reports whether a change of a pod is more than one of labels and annotations.
func disturbs(a action.UpdateInPlace) bool { return len(a.Images)+len(a.Sidecars)+len(a.Resized) > 0 }

// notedResources are the resources that the annotation of a pod names, by container.
func notedResources(pod *corev1.Pod) map[string]corev1.ResourceRequirements {
	var note struct {
		Resources map[string]corev1.ResourceRequirements `json:"resources"`
	}
	if json.Unmarshal([]byte(pod.Annotations[v1.InPlaceAnnotation]), &note) != nil {
		return nil
	}
	return note.Resources
}

// waitsForResize reports whether a node has been told to resize a pod and has yet to do so, and
// whether it says that it cannot.
func (f evidence) waitsForResize(pod *corev1.Pod) (waits, cannot bool) {
	if len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].ContainerID == "" {
		return false, false
	}
	name, put := pod.Spec.Containers[0].Name, slices.IndexFunc(pod.Status.Conditions, isOfResize)
	noted, resizes := notedResources(pod)[name]
	if !resizes || !includes(pod.Spec.Containers[0].Resources, noted) ||
		put < 0 && includes(*pod.Status.ContainerStatuses[0].Resources, noted) {
		return false, false
	}
	return true,
		put >= 0 && pod.Status.Conditions[put].Reason == "Infeasible" && pod.Status.Conditions[put].ObservedGeneration >= pod.Generation
}

// awaitsResize reports whether nothing is waited for but that the host is told to resize a pod,
// and takes it.
func (f evidence) awaitsResize(pod *corev1.Pod) bool {
	wanted, resizes := notedResources(pod)[pod.Spec.Containers[0].Name]
	return len(yetToRestart(pod)) == 0 && resizes && !includes(pod.Spec.Containers[0].Resources, wanted)
}

// includes reports whether resources are others, as far as these say something.
func includes(all, some corev1.ResourceRequirements) bool {
	for name, want := range some.Requests {
		if got := all.Requests[name]; !got.Equal(want) {
			return false
		}
	}
	for name, want := range some.Limits {
		if got := all.Limits[name]; !got.Equal(want) {
			return false
		}
	}
	return true
}

// templateOf is the template that a revision records, nil if there is no such revision.
func (j *judged) templateOf(name string) *corev1.PodTemplateSpec {
	var recorded struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	revision := j.revisions[name]
	for _, act := range planned[action.CreateRevision](j) {
		if act.Revision.Name == name {
			revision = act.Revision
		}
	}
	if revision == nil || json.Unmarshal(revision.Data.Raw, &recorded) != nil || len(recorded.Spec.Template.Spec.Containers) == 0 {
		return nil
	}
	return &recorded.Spec.Template
}

// resizes: a pod is resized only after that has been noted, to what the revision of its label
// gives its containers, and where nothing may be removed, nothing is instead. What has not been
// seen to be done stays noted. A pod about which nothing is noted has what its revision gives.
func (j *judged) resizes() {
	for _, act := range planned[action.ResizePod](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil {
			continue
		}
		_, is := noted(pod)
		template := j.templateOf(pod.Labels[revisionLabel])
		if !is || !j.mine(pod) || pod.DeletionTimestamp != nil || !j.wanted(act.Ordinal) {
			j.broke("resize", "%s, which has the annotations %v", act, pod.Annotations)
		}
		for name, given := range act.Containers {
			if template != nil && !includes(effective(template.Spec.Containers[0].Resources), given) {
				j.broke("what a resize gives", "%s gives %s %v, and revision %s %v", act, name, given, pod.Labels[revisionLabel],
					template.Spec.Containers[0].Resources)
			}
		}
		mayNot := j.rests() || j.inPlacePolicy() == v1.OnlyInPlaceUpdatePolicyType || j.strategy() == v1.OnDeleteStatefulSetStrategyType
		if removal := act.Otherwise; removal != nil && (mayNot || removal.Pod != act.Pod || removal.Reason != action.DeleteUnresized) {
			j.broke("resize or not", "%s, and otherwise %v", act, removal)
		}
	}
	for _, act := range planned[action.UpdateInPlace](j) {
		if pod := j.pods[act.Pod.Name]; pod != nil {
			j.notesResize(act, pod)
		}
	}
	for _, act := range planned[action.EndInPlace](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil || len(pod.Status.ContainerStatuses) == 0 {
			continue
		}
		resources := pod.Status.ContainerStatuses[0].Resources
		for name, want := range notedResources(pod) {
			if slices.ContainsFunc(pod.Status.Conditions, isOfResize) || !includes(pod.Spec.Containers[0].Resources, want) || resources == nil ||
				!includes(*resources, want) {
				j.broke("end of a resize", "%s, whose container %s has %v of %v, with the conditions %v", act, name, resources, want,
					pod.Status.Conditions)
			}
		}
	}
	j.resourcesTold()
}

// notesResize: the resources that differ between two revisions are noted, with those of before.
func (j *judged) notesResize(act action.UpdateInPlace, pod *corev1.Pod) {
	changed := pod.DeepCopy()
	changed.Annotations = map[string]string{}
	if text := act.Annotations[v1.InPlaceAnnotation]; text != nil {
		changed.Annotations[v1.InPlaceAnnotation] = *text
	}
	now, before := notedResources(changed), notedResources(pod)
	from, to := j.templateOf(pod.Labels[revisionLabel]), j.templateOf(act.Revision)
	if from == nil || to == nil {
		return
	}
	name, had, wanted := to.Spec.Containers[0].Name, effective(from.Spec.Containers[0].Resources), effective(to.Spec.Containers[0].Resources)
	for _, lists := range [][4]corev1.ResourceList{
		{before[name].Requests, now[name].Requests, had.Requests, wanted.Requests},
		{before[name].Limits, now[name].Limits, had.Limits, wanted.Limits},
	} {
		for resource, want := range lists[3] {
			was, got := lists[2][resource], lists[1][resource]
			_, open := lists[0][resource]
			if (open || !was.Equal(want)) && !got.Equal(want) {
				j.broke("noted resize", "%s notes %s %s, and revision %s gives %s; of before is noted %v", act, resource, got.String(), act.Revision,
					want.String(), before)
			}
		}
	}
}

// effective are the resources of a template as a pod has them: what is limited is requested.
func effective(resources corev1.ResourceRequirements) corev1.ResourceRequirements {
	all := corev1.ResourceList{}
	maps.Copy(all, resources.Limits)
	maps.Copy(all, resources.Requests)
	return corev1.ResourceRequirements{Requests: all, Limits: resources.Limits}
}

// resourcesTold: the label of a pod says what resources it has, unless a resize is noted.
func (j *judged) resourcesTold() {
	for _, pod := range j.Pods {
		_, resizes := noted(pod)
		template := j.templateOf(pod.Labels[revisionLabel])
		if resizes || template == nil || !j.mine(pod) {
			continue
		}
		if got, want := resourcesText(&pod.Spec.Containers[0].Resources), resourcesText(&template.Spec.Containers[0].Resources); got != want {
			j.broke("what a label says", "pod %s has the resources%s, and revision %s gives%s", pod.Name, got, pod.Labels[revisionLabel], want)
		}
	}
}
