// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestOracleOfGates(t *testing.T) {
	gated := func(set *v1.StatefulSet) {
		set.Spec.Disruption = &v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{{ConditionType: "example.com/ok"}}}
	}
	asks := func(f *film) {
		f.edit(gated)
		f.update("b")
		f.ask()
	}
	tests := map[string]struct {
		play func(*film)
		want string
	}{
		"a pod that hands over is removed without an answer": {func(f *film) {
			asks(f)
			f.ready(2, false)
			f.remove(2)
		}, "gate: removed without an answer although no longer ready: pod web-2"},
		"a pod that hands over is restarted without an answer": {func(f *film) {
			asks(f)
			f.change(2, Controller, func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "b" })
		}, "gate: restarted without an answer although ready: pod web-2"},
		"the gate agrees": {func(f *film) {
			asks(f)
			agree(f)
			f.remove(2)
		}, ""},
		"the rest of an update is done while the gate is asked about more": {func(f *film) {
			asks(f)
			updatesAsAgreed(f)
			asksToReplace(f)
			resize(f)
		}, ""},
		"an update that the gate has agreed to is over": {func(f *film) {
			asks(f)
			updatesAsAgreed(f)
			f.change(2, Controller, func(pod *corev1.Pod) { delete(pod.Annotations, v1.InPlaceAnnotation) })
			asksToReplace(f)
			resize(f)
		}, "gate: restarted without an answer although ready: pod web-2, whose gates are asked about Replace (request 2)"},
		"the gate may have had its time": {func(f *film) {
			f.edit(gated)
			f.edit(func(set *v1.StatefulSet) { set.Spec.Disruption.Gates[0].TimeoutSeconds = new(int32(60)) })
			f.update("b")
			f.ask()
			f.remove(2)
		}, ""},
		"the gate is asked by a set that has it no longer": {func(f *film) {
			asks(f)
			f.edit(func(set *v1.StatefulSet) { set.Spec.Disruption = nil })
			f.remove(2)
		}, ""},
		"a pod breaks after its question was withdrawn": {func(f *film) {
			asks(f)
			f.edit(func(set *v1.StatefulSet) { set.Spec.Disruption = nil })
			f.withdraw()
			f.edit(gated)
			f.remove(2)
		}, ""},
		"a question is withdrawn without a change of the set": {func(f *film) {
			asks(f)
			f.withdraw()
			f.remove(2)
		}, "gate: removed without an answer although no longer ready: pod web-2"},
		"a user deletes a pod that is asked": {func(f *film) {
			asks(f)
			f.change(2, User, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: f.now} })
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			compareReports(t, newFilm(v1.RollingUpdateStatefulSetStrategy{}, ofRollouts...), test.play, test.want)
		})
	}
}

// agree has the gate agree to question 1.
func agree(f *film) {
	f.change(2, User, func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions,
			corev1.PodCondition{Type: "example.com/ok", Status: corev1.ConditionTrue, Reason: "Request1"})
	})
}

// updatesAsAgreed begins an update in place to version b.
func updatesAsAgreed(f *film) {
	agree(f)
	f.change(2, Controller, func(pod *corev1.Pod) {
		pod.Annotations[v1.InPlaceAnnotation] = "{}"
		pod.Spec.Containers = []corev1.Container{{Name: "db", Image: "b"}}
	})
}

// asksToReplace has a user ask for another pod, and the gate be asked about it.
func asksToReplace(f *film) {
	f.status(func(s *v1.StatefulSetStatus) {
		s.Replacements = []v1.MemberReplacement{{Ordinal: 2, PodUID: f.pods["web-2"].UID}}
	})
	f.change(2, Controller, func(pod *corev1.Pod) {
		pod.Annotations[v1.DisruptionAnnotation] = `{"id":2,"operation":"Replace"}`
	})
}

func resize(f *film) {
	f.change(2, Controller, func(pod *corev1.Pod) {
		pod.Spec.Containers = []corev1.Container{
			{Name: "db", Image: "b", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}}}}
	})
}
