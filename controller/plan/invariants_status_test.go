// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// revisionsKept: no revision goes that a member has or may get.
func (j *judged) revisionsKept() {
	live := j.liveRevisions()
	delete(live, j.Set.Status.UpdateRevision)
	live[j.Set.Status.CurrentRevision] = true
	live[j.plan.Status.CurrentRevision] = true
	live[j.plan.Status.UpdateRevision] = true
	for _, act := range planned[action.DeleteRevision](j) {
		if live[act.Revision.Name] {
			j.broke("live revision", "%s, which is needed", act)
		}
		if controller := metav1.GetControllerOfNoCopy(j.seen("revision", act.Revision.Name)); controller != nil && controller.UID != j.Set.UID {
			j.broke("live revision", "%s, which is not the set's", act)
		}
	}
}

// revisionsMade: the present template is recorded once, under a free name and with
// the highest number, or its record is made the latest, before a member is touched.
func (j *judged) revisionsMade() {
	if j.undecided() {
		return
	}
	var highest int64
	for _, revision := range j.Revisions {
		if controller := metav1.GetControllerOfNoCopy(revision); controller == nil || controller.UID == j.Set.UID {
			highest = max(highest, revision.Revision)
		}
	}
	creates, raises := planned[action.CreateRevision](j), planned[action.RaiseRevision](j)
	if len(creates)+len(raises) > 1 {
		j.broke("revision", "the template is recorded more than once: %v %v", creates, raises)
	}
	for _, act := range creates {
		if j.revisions[act.Revision.Name] != nil || act.Revision.Revision != highest+1 || act.Revision.Name != j.plan.Status.UpdateRevision {
			j.broke("revision", "%s; the highest number is %d, the present one is to be %s", act, highest, j.plan.Status.UpdateRevision)
		}
	}
	for _, act := range raises {
		if act.Revision.Name != j.plan.Status.UpdateRevision || act.To != highest+1 {
			j.broke("revision", "%s; the highest number is %d, the present one is %s", act, highest, j.plan.Status.UpdateRevision)
		}
	}
	acts := len(planned[action.CreateMember](j))+len(planned[action.DeletePod](j)) > 0
	if image, want := j.imageOf(j.plan.Status.UpdateRevision),
		j.Set.Spec.Template.Spec.Containers[0].Image; image != want && (image != "" || acts) {
		j.broke("revision", "the present revision %s records image %q, want %q", j.plan.Status.UpdateRevision, image, want)
	}
}

// imageOf is the image that a revision records.
func (j *judged) imageOf(name string) string {
	data := []byte(nil)
	if revision := j.revisions[name]; revision != nil {
		data = revision.Data.Raw
	}
	for _, act := range planned[action.CreateRevision](j) {
		if act.Revision.Name == name {
			data = act.Revision.Data.Raw
		}
	}
	return recordedImage(data)
}

func recordedImage(data []byte) string {
	_, rest, _ := bytes.Cut(data, []byte(`"image":"`))
	image, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(image)
}

// counters: the status counts what is there.
func (j *judged) counters() {
	var want v1.StatefulSetStatus
	for _, pod := range j.Pods {
		if !j.mine(pod) {
			continue
		}
		want.Replicas++
		if _, ok := ready(pod); ok {
			want.ReadyReplicas++
		}
		if j.readyLongEnough(pod) {
			want.AvailableReplicas++
		}
		if pod.DeletionTimestamp == nil && pod.Labels[appsv1.ControllerRevisionHashLabelKey] == j.plan.Status.UpdateRevision {
			want.UpdatedReplicas++
		}
	}
	got := j.plan.Status
	if got.Replicas != want.Replicas || got.ReadyReplicas != want.ReadyReplicas || got.AvailableReplicas != want.AvailableReplicas ||
		got.UpdatedReplicas != want.UpdatedReplicas {
		j.broke("counters", "the status says %d, %d ready, %d available, %d updated; there are %d, %d, %d, %d",
			got.Replicas, got.ReadyReplicas, got.AvailableReplicas, got.UpdatedReplicas,
			want.Replicas, want.ReadyReplicas, want.AvailableReplicas, want.UpdatedReplicas)
	}
	if got.CurrentReplicas < 0 || got.CurrentReplicas > got.Replicas || got.AvailableReplicas > got.ReadyReplicas ||
		got.ReadyReplicas > got.Replicas {
		j.broke("counters", "the status says %d current of %d", got.CurrentReplicas, got.Replicas)
	}
	if got.ObservedGeneration != j.Set.Generation {
		j.broke("generation", "the status says generation %d, it is %d", got.ObservedGeneration, j.Set.Generation)
	}
}
