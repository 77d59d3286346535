// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// ofRollouts are the oracles that a film is about. Its scenes leave out what others judge.
var ofRollouts = []string{"paused", "rollback", "undone", "approval", "partition", "gate", "strategy"}

// film shows a judge one scene after the other.
type film struct {
	now     time.Time
	set     *v1.StatefulSet
	pods    map[string]*corev1.Pod
	claims  map[string]*corev1.PersistentVolumeClaim
	judge   *Judge
	reports []string
}

// newFilm begins with a set of three members that are available at version a. Only the reports of some oracles
// count.
func newFilm(rolling v1.RollingUpdateStatefulSetStrategy, about ...string) *film {
	f := &film{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), pods: map[string]*corev1.Pod{}}
	f.judge = NewJudge(func(oracle, message string) {
		if slices.Contains(about, oracle) {
			f.reports = append(f.reports, oracle+": "+message)
		}
	})
	f.set = &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set", Generation: 1}, Spec: v1.StatefulSetSpec{
		Replicas:       new(int32(3)),
		UpdateStrategy: v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &rolling},
	}}
	f.edit(func(set *v1.StatefulSet) { image(set, "a") })
	for n := range 3 {
		f.create(n, "a")
		f.ready(n, true)
	}
	f.status(func(s *v1.StatefulSetStatus) { s.CurrentRevision, s.UpdateRevision = "a", "a" })
	return f
}

func image(set *v1.StatefulSet, to string) {
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "db", Image: to}}
}

func (f *film) show(by Actor) {
	f.judge.See(by, Scene{Now: f.now, Set: f.set, Pods: maps.Clone(f.pods), Claims: maps.Clone(f.claims)})
}

// edit is what a user does to the spec.
func (f *film) edit(do func(*v1.StatefulSet)) {
	f.set = f.set.DeepCopy()
	f.set.Generation++
	do(f.set)
	f.show(User)
}

// update gives the set another template, and has its status say so.
func (f *film) update(to string) {
	f.edit(func(set *v1.StatefulSet) { image(set, to) })
	f.status(func(s *v1.StatefulSetStatus) { s.UpdateRevision = to })
}

// status is what the controller writes.
func (f *film) status(do func(*v1.StatefulSetStatus)) {
	f.set = f.set.DeepCopy()
	f.set.Status.ObservedGeneration = f.set.Generation
	do(&f.set.Status)
	f.show(Controller)
	f.judge.Synced(Sync{Clean: true})
}

func (f *film) create(n int, version string) {
	name := fmt.Sprintf("web-%d", n)
	f.pods[name] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(fmt.Sprint(name, version, f.now))},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: version}}}}
	f.show(Controller)
}

func (f *film) change(n int, by Actor, do func(*corev1.Pod)) {
	name := fmt.Sprintf("web-%d", n)
	f.pods[name] = f.pods[name].DeepCopy()
	do(f.pods[name])
	f.show(by)
}

func (f *film) ready(n int, ready bool) {
	status := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}[ready]
	f.change(n, Cluster, func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Time{Time: f.now}}}
	})
}

// remove has the controller delete pods, and the cluster end them.
func (f *film) remove(members ...int) {
	for _, n := range members {
		f.change(n, Controller, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: f.now} })
		delete(f.pods, fmt.Sprintf("web-%d", n))
		f.show(Cluster)
	}
}

// own gives the pod of a member a claim that it owns.
func (f *film) own(n int) {
	pod := f.pods[fmt.Sprintf("web-%d", n)]
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "www-" + pod.Name,
		OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: pod.Name, UID: pod.UID}}}}
	f.claims = map[string]*corev1.PersistentVolumeClaim{claim.Name: claim}
}

func scale(to int32) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) { set.Spec.Replicas = &to }
}

// ask has the pod of member 2 asked by its gates, as number 1.
func (f *film) ask() {
	f.change(2, Controller, func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{v1.DisruptionAnnotation: `{"id":1,"operation":"Update","since":"` + f.now.Format(time.RFC3339) + `"}`}
	})
}

// withdraw has the controller withdraw what the pod 2 is asked, and the pod break.
func (f *film) withdraw() {
	f.ready(2, false)
	f.change(2, Controller, func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions,
			corev1.PodCondition{Type: "example.com/ok", Status: corev1.ConditionTrue, Reason: v1.ReasonGateNotRequested})
	})
}

func strategy(kind v1.StatefulSetUpdateStrategyType) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) { set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: kind} }
}

func abort(s *v1.StatefulSetStatus) {
	s.Rollout = &v1.RolloutStatus{Revision: s.UpdateRevision, Aborted: true}
}
