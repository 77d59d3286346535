// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

func TestOraclesOfRollouts(t *testing.T) {
	type rolling = v1.RollingUpdateStatefulSetStrategy
	manual := func(n int) v1.RolloutStep {
		return v1.RolloutStep{Updated: intstr.FromInt(n), Approval: v1.ManualRolloutStepApproval}
	}
	tests := map[string]struct {
		rolling rolling
		play    func(f *film)
		// want is how the one report begins, empty for none.
		want string
	}{
		"a paused set that was empty creates members at the template": {rolling{Paused: new(true)}, func(f *film) {
			f.update("b")
			f.edit(scale(0))
			f.remove(2, 1, 0)
			f.edit(scale(1))
			f.create(0, "b")
		}, "paused: created after a scale to 0: member 0"},
		"a paused set that had fewer members creates others at the template": {rolling{}, func(f *film) {
			f.update("b")
			f.remove(0)
			f.create(0, "b")
			f.edit(func(set *v1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Paused = new(true) })
			f.edit(scale(1))
			f.remove(2, 1)
			f.ready(0, true)
			f.status(func(s *v1.StatefulSetStatus) { s.CurrentRevision = "b" })
			f.edit(scale(2))
			f.create(1, "b")
		}, "paused: created after a scale-down: member 1"},
		"a paused set restarts a member": {rolling{Paused: new(true)}, func(f *film) {
			f.update("b")
			f.change(1, Controller, func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "b" })
		}, "paused: restarted for the update: member 1"},
		"a paused set creates members as they were": {rolling{Paused: new(true)}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "a")
		}, ""},
		"a paused set creates a member that the update had reached": {rolling{}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "b")
			f.edit(func(set *v1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Paused = new(true) })
			f.remove(2)
			f.create(2, "b")
		}, ""},
		"a set without members gets another template, and is paused later": {rolling{}, func(f *film) {
			f.edit(scale(0))
			f.remove(2, 1, 0)
			f.update("b")
			f.edit(func(set *v1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Paused = new(true) })
			f.edit(scale(1))
			f.create(0, "b")
		}, ""},

		"a failed update is left as it is": {rolling{FailurePolicy: new(v1.RollbackRolloutFailurePolicy)}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "b")
			f.judge.Rested()
		}, "rollback: does not happen at all: member 2"},
		"an update whose members were ready for a moment is left as it is": {
			rolling{FailurePolicy: new(v1.RollbackRolloutFailurePolicy)}, func(f *film) {
				f.edit(func(set *v1.StatefulSet) { set.Spec.MinReadySeconds = 10 })
				f.now = f.now.Add(time.Minute)
				f.update("b")
				f.remove(2)
				f.create(2, "b")
				f.ready(2, true)
				f.ready(2, false)
				f.judge.Rested()
			}, "rollback: does not happen although members were ready only for a moment: member 2"},
		"a failed update is left as it is after a scale to 0": {rolling{FailurePolicy: new(v1.RollbackRolloutFailurePolicy)}, func(f *film) {
			f.update("b")
			f.edit(scale(0))
			f.remove(2, 1, 0)
			f.edit(scale(1))
			f.create(0, "b")
			f.judge.Rested()
		}, "rollback: does not happen after a scale to 0: member 0"},
		"a failed update is taken back": {rolling{FailurePolicy: new(v1.RollbackRolloutFailurePolicy)}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "b")
			f.remove(2)
			f.create(2, "a")
			f.judge.Rested()
		}, ""},
		"without the policy a failed update waits": {rolling{}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "b")
			f.judge.Rested()
		}, ""},
		"an update that was available at all members breaks later": {rolling{FailurePolicy: new(v1.RollbackRolloutFailurePolicy)}, func(f *film) {
			f.update("b")
			for n := range 3 {
				f.remove(n)
				f.create(n, "b")
				f.ready(n, true)
			}
			f.ready(1, false)
			f.judge.Rested()
		}, ""},

		"an aborted update is tried again after OnDelete": {rolling{}, func(f *film) {
			f.update("b")
			f.status(abort)
			f.edit(strategy(v1.OnDeleteStatefulSetStrategyType))
			f.status(func(s *v1.StatefulSetStatus) { s.Rollout = nil })
			f.edit(strategy(v1.RollingUpdateStatefulSetStrategyType))
			f.remove(2)
			f.create(2, "b")
		}, "undone: tried again after OnDelete: member 2"},
		"an update that was rolled back is tried again by Recreate": {rolling{}, func(f *film) {
			f.update("b")
			f.status(func(s *v1.StatefulSetStatus) { s.Rollout = &v1.RolloutStatus{Revision: "b", Rollback: true} })
			f.edit(strategy(v1.RecreateStatefulSetStrategyType))
			f.remove(2, 1, 0)
			f.create(0, "b")
		}, "undone: tried again by Recreate: member 0"},
		"a rolled back set gets another template while nothing is done for it": {rolling{}, func(f *film) {
			f.update("b")
			f.status(func(s *v1.StatefulSetStatus) { s.Rollout = &v1.RolloutStatus{Revision: "b", Rollback: true} })
			f.edit(func(set *v1.StatefulSet) { set.Annotations = map[string]string{v1.HoldAnnotation: "by hand"} })
			f.edit(func(set *v1.StatefulSet) { image(set, "a") })
			f.edit(func(set *v1.StatefulSet) { image(set, "c") })
			f.status(func(*v1.StatefulSetStatus) {})
			f.edit(func(set *v1.StatefulSet) { set.Annotations = nil })
			f.remove(2)
			f.create(2, "c")
		}, ""},
		"an aborted update is tried again when it is promoted": {rolling{}, func(f *film) {
			f.update("b")
			f.status(abort)
			f.set = f.set.DeepCopy()
			f.set.Status.Rollout = &v1.RolloutStatus{Revision: "b", PromotedAll: true}
			f.show(User)
			f.remove(2)
			f.create(2, "b")
		}, ""},
		"after an abort the set gets another template": {rolling{}, func(f *film) {
			f.update("b")
			f.status(abort)
			f.update("c")
			f.remove(2)
			f.create(2, "c")
		}, ""},

		"a step is skipped when the one before is taken out": {
			rolling{Steps: []v1.RolloutStep{{Updated: intstr.FromInt(1)}, manual(2)}}, func(f *film) {
				f.update("b")
				f.remove(2, 1)
				f.create(2, "b")
				f.create(1, "b")
				f.edit(func(set *v1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Steps = []v1.RolloutStep{manual(2)} })
				f.remove(0)
				f.create(0, "b")
			}, "approval: skipped after the steps were changed: member 0"},
		"a step is skipped": {rolling{Steps: []v1.RolloutStep{manual(1)}}, func(f *film) {
			f.update("b")
			f.remove(2, 1)
			f.create(2, "b")
			f.create(1, "b")
		}, "approval: skipped: member 1"},
		"a step is promoted": {rolling{Steps: []v1.RolloutStep{manual(1)}}, func(f *film) {
			f.update("b")
			f.remove(2, 1)
			f.create(2, "b")
			f.status(func(s *v1.StatefulSetStatus) { s.Rollout = &v1.RolloutStatus{Revision: "b", PromotedStep: 1} })
			f.create(1, "b")
		}, ""},
		"a member that the step has reached is lost": {rolling{Steps: []v1.RolloutStep{manual(1)}}, func(f *film) {
			f.update("b")
			for range 2 {
				f.remove(2)
				f.create(2, "b")
			}
		}, ""},

		"a reserved ordinal takes a member back": {rolling{Partition: new(int32(2))}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "b")
			f.edit(func(set *v1.StatefulSet) {
				set.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 1}}}
			})
			f.remove(2)
			f.create(2, "a")
		}, "partition: reverts member 2"},
		"a greater partition takes a member back": {rolling{Partition: new(int32(2))}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "b")
			f.edit(func(set *v1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(3)) })
			f.remove(2)
			f.create(2, "a")
		}, ""},

		"a member that was scaled in is created again below the partition": {rolling{Partition: new(int32(2))}, func(f *film) {
			f.update("b")
			f.remove(2)
			f.create(2, "b")
			f.edit(scale(2))
			f.remove(2)
			f.edit(func(set *v1.StatefulSet) {
				set.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 1}}}
			})
			f.create(2, "a")
		}, ""},

		"OnDelete removes a pod": {rolling{}, func(f *film) {
			f.edit(strategy(v1.OnDeleteStatefulSetStrategyType))
			f.update("b")
			f.remove(2)
		}, "strategy: OnDelete removed pod web-2"},
		"OnDelete removes a pod that has ended": {rolling{}, func(f *film) {
			f.edit(strategy(v1.OnDeleteStatefulSetStrategyType))
			f.update("b")
			f.change(2, Cluster, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
			f.remove(2)
		}, ""},
		"Recreate creates a pod next to another version": {rolling{}, func(f *film) {
			f.edit(strategy(v1.RecreateStatefulSetStrategyType))
			f.update("b")
			f.remove(2)
			f.create(2, "b")
		}, "strategy: Recreate created pod web-2"},
		"Recreate creates pods after all have gone": {rolling{}, func(f *film) {
			f.edit(strategy(v1.RecreateStatefulSetStrategyType))
			f.update("b")
			f.remove(2, 1, 0)
			f.create(0, "b")
			f.create(1, "b")
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { compareReports(t, newFilm(test.rolling, ofRollouts...), test.play, test.want) })
	}
}

// compareReports plays a film and compares what is reported with the one report that is wanted, or none.
func compareReports(t *testing.T, f *film, play func(*film), want string) {
	t.Helper()
	play(f)
	if want == "" && len(f.reports) > 0 || want != "" && (len(f.reports) != 1 || !strings.HasPrefix(f.reports[0], want)) {
		t.Errorf("reported %q, want %q", f.reports, want)
	}
}
