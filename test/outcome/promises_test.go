// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// promise is a short film, and how the one report of an oracle begins, empty for none.
type promise struct {
	rolling v1.RollingUpdateStatefulSetStrategy
	play    func(f *film)
	want    string
}

func checkPromises(t *testing.T, about string, promises map[string]promise) {
	t.Helper()
	for name, p := range promises {
		t.Run(name, func(t *testing.T) {
			f := newFilm(p.rolling, about)
			p.play(f)
			if p.want == "" && len(f.reports) > 0 || p.want != "" && (len(f.reports) != 1 || !strings.HasPrefix(f.reports[0], about+": "+p.want)) {
				t.Errorf("reported %q, want %q", f.reports, p.want)
			}
		})
	}
}

func TestBudget(t *testing.T) {
	type rolling = v1.RollingUpdateStatefulSetStrategy
	two := rolling{MaxUnavailable: new(intstr.FromInt32(2))}
	answered := func(pod *corev1.Pod) { pod.Annotations = nil }
	checkPromises(t, "budget", map[string]promise{
		"a pod is removed while another is not ready": {rolling{}, func(f *film) {
			f.ready(0, false)
			f.remove(2)
		}, "removed: pod web-2"},
		"a broken pod is removed while another is not ready": {rolling{}, func(f *film) {
			f.ready(0, false)
			f.ready(2, false)
			f.remove(2)
		}, ""},
		"two pods are removed where two may be":   {two, func(f *film) { f.remove(2, 1) }, ""},
		"three pods are removed where two may be": {two, func(f *film) { f.remove(2, 1, 0) }, "removed: pod web-0"},
		"a share of less than one member is one":  {rolling{MaxUnavailable: new(intstr.FromString("1%"))}, func(f *film) { f.remove(2) }, ""},
		"a share is rounded down": {
			rolling{MaxUnavailable: new(intstr.FromString("50%"))}, func(f *film) { f.remove(2, 1) }, "removed: pod web-1"},
		"a pod is removed while another is asked": {rolling{}, func(f *film) {
			f.ask()
			f.remove(1)
		}, "removed: pod web-1"},
		"a pod is removed when it has answered, and another is asked": {rolling{}, func(f *film) {
			f.ask()
			f.change(1, Controller, func(pod *corev1.Pod) { pod.Annotations = f.pods["web-2"].Annotations })
			f.remove(2)
		}, "asked: pod web-1"},
		"a question is withdrawn before another pod is removed": {rolling{}, func(f *film) {
			f.ask()
			f.change(2, Controller, answered)
			f.remove(1)
		}, ""},
		"two pods are given another image at a time": {rolling{}, func(f *film) {
			for _, n := range []int{2, 1} {
				f.change(n, Controller, func(pod *corev1.Pod) { pod.Spec.Containers = []corev1.Container{{Name: "db", Image: "b"}} })
			}
		}, "restarted: pod web-1"},
		"surplus pods are removed": {rolling{}, func(f *film) {
			f.edit(scale(1))
			f.remove(2, 1)
		}, ""},
		"users remove pods": {rolling{}, func(f *film) {
			for n := range 3 {
				f.change(n, User, ends)
			}
		}, ""},
		"Recreate removes all pods": {rolling{}, func(f *film) {
			f.edit(strategy(v1.RecreateStatefulSetStrategyType))
			f.remove(2, 1, 0)
		}, ""},
	})
}

func TestTurns(t *testing.T) {
	type rolling = v1.RollingUpdateStatefulSetStrategy
	leads := func(pod *corev1.Pod) { pod.Labels = map[string]string{"role": "leader"} }
	leaderLast := &v1.UpdateOrder{
		First: []v1.OrdinalRange{{First: 2}},
		Last:  []metav1.LabelSelector{{MatchLabels: map[string]string{"role": "leader"}}},
	}
	updates := func(members ...int) func(f *film) {
		return func(f *film) {
			f.update("b")
			f.remove(members...)
			f.judge.Synced(Sync{Clean: true})
		}
	}
	reached := func(f *film) {
		f.update("b")
		f.status(func(s *v1.StatefulSetStatus) {
			s.Rollout = &v1.RolloutStatus{Revision: "b", Released: []v1.OrdinalRange{{First: 1}}}
		})
	}
	checkPromises(t, "turn", map[string]promise{
		"the highest ordinal is first": {rolling{}, updates(2), ""},
		"the lowest ordinal is first":  {rolling{}, updates(0), "order: pod web-0"},
		"a pod that owns a claim is not in turn": {rolling{}, func(f *film) {
			f.own(2)
			updates(1)(f)
		}, ""},
		"a member that a step has reached stays first": {rolling{Order: &v1.UpdateOrder{First: []v1.OrdinalRange{{First: 1}}}}, func(f *film) {
			reached(f)
			f.edit(func(set *v1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Order = nil })
			f.remove(1)
			f.judge.Synced(Sync{Clean: true})
		}, ""},
		"a step reaches a member before the others": {rolling{}, func(f *film) {
			reached(f)
			f.remove(1)
			f.judge.Synced(Sync{Clean: true})
		}, "order: pod web-1"},
		"the lowest is first as asked":  {rolling{Order: &v1.UpdateOrder{Direction: v1.AscendingUpdateDirectionType}}, updates(0), ""},
		"a canary is not first":         {rolling{Order: &v1.UpdateOrder{First: []v1.OrdinalRange{{First: 1}}}}, updates(2), "order: pod web-2"},
		"a partition keeps the highest": {rolling{Partition: new(int32(3))}, updates(2), ""},
		"a leader is first": {rolling{Order: leaderLast}, func(f *film) {
			f.change(2, User, leads)
			updates(2)(f)
		}, "last: pod web-2"},
		"a leader is taken while another member is not ready": {rolling{Order: leaderLast}, func(f *film) {
			f.change(2, User, leads)
			f.update("b")
			for _, n := range []int{1, 0} {
				f.remove(n)
				f.create(n, "b")
			}
			f.ready(1, true)
			f.remove(2)
			f.judge.Synced(Sync{Clean: true})
		}, "last: pod web-2"},
		"a write was refused": {rolling{}, func(f *film) {
			f.update("b")
			f.remove(0)
			f.judge.Synced(Sync{})
		}, ""},
	})
}

func TestScaleIn(t *testing.T) {
	type rolling = v1.RollingUpdateStatefulSetStrategy
	parallel := func(set *v1.StatefulSet) { set.Spec.PodManagementPolicy = v1.ParallelPodManagement }
	removes := func(to int32, members ...int) func(f *film) {
		return func(f *film) {
			f.edit(scale(to))
			for _, n := range members {
				f.change(n, Controller, ends)
			}
			f.judge.Synced(Sync{Clean: true})
		}
	}
	checkPromises(t, "scale-in", map[string]promise{
		"the highest ordinal goes first":       {rolling{}, removes(1, 2), ""},
		"another goes first":                   {rolling{}, removes(1, 1), "order: pod web-1"},
		"an ordered set removes two at a time": {rolling{}, removes(1, 2, 1), "together: pod web-1"},
		"a Parallel set removes two at a time": {rolling{}, func(f *film) {
			f.edit(parallel)
			removes(1, 2, 1)(f)
		}, ""},
		"a Parallel set leaves the highest ordinal": {rolling{}, func(f *film) {
			f.edit(parallel)
			removes(1, 1)(f)
		}, "order: pod web-1"},
		"a Parallel set leaves a pod that owns a claim": {rolling{}, func(f *film) {
			f.own(2)
			f.edit(parallel)
			removes(1, 1)(f)
		}, ""},
		"an ordered set leaves a pod that owns a claim": {rolling{}, func(f *film) {
			f.own(2)
			removes(1, 1)(f)
		}, "order: pod web-1"},
		"a Parallel set writes to the highest ordinal first": {rolling{}, func(f *film) {
			f.edit(parallel)
			f.edit(scale(1))
			f.change(2, Controller, func(pod *corev1.Pod) { pod.Annotations = map[string]string{"a": "b"} })
			f.change(1, Controller, ends)
			f.judge.Synced(Sync{Clean: true})
		}, ""},
		"an ordered set removes a pod behind a broken one": {rolling{}, func(f *film) {
			f.ready(0, false)
			removes(1, 2)(f)
		}, "behind: pod web-2"},
	})
}

func TestBakes(t *testing.T) {
	steps := func(step v1.RolloutStep) v1.RollingUpdateStatefulSetStrategy {
		step.Updated = intstr.FromInt32(1)
		return v1.RollingUpdateStatefulSetStrategy{Steps: []v1.RolloutStep{step}}
	}
	minute, asks := steps(v1.RolloutStep{BakeSeconds: 60}), steps(v1.RolloutStep{PodConditions: []string{"example.com/ok"}})
	recreate := func(f *film, n int) {
		f.remove(n)
		f.create(n, "b")
	}
	wait := func(f *film, seconds int) {
		f.now = f.now.Add(time.Duration(seconds) * time.Second)
		f.show(Cluster)
	}
	canary := func(f *film) {
		f.update("b")
		recreate(f, 2)
		f.ready(2, true)
	}
	reachTwo := func(f *film) {
		f.update("b")
		f.status(func(s *v1.StatefulSetStatus) {
			s.Rollout = &v1.RolloutStatus{Revision: "b", Released: []v1.OrdinalRange{{First: 1, Last: new(int32(2))}}}
		})
	}
	checkPromises(t, "bake", map[string]promise{
		"the next member is updated at once": {minute, func(f *film) {
			canary(f)
			recreate(f, 1)
		}, "too short: member 1"},
		"the next member is updated after the bake": {minute, func(f *film) {
			canary(f)
			wait(f, 60)
			recreate(f, 1)
		}, ""},
		"the canary is lost in the bake": {minute, func(f *film) {
			canary(f)
			wait(f, 40)
			f.ready(2, false)
			f.ready(2, true)
			wait(f, 40)
			recreate(f, 1)
		}, "too short: member 1"},
		"the canary lacks the condition": {asks, func(f *film) {
			canary(f)
			recreate(f, 1)
		}, "without a condition: member 1"},
		"a person promotes all steps": {minute, func(f *film) {
			canary(f)
			f.status(func(s *v1.StatefulSetStatus) { s.Rollout = &v1.RolloutStatus{Revision: "b", PromotedAll: true} })
			recreate(f, 1)
		}, ""},
		"a template comes back before a sync has seen another one": {minute, func(f *film) {
			reachTwo(f)
			f.edit(func(set *v1.StatefulSet) { image(set, "a") })
			f.edit(func(set *v1.StatefulSet) { image(set, "b") })
			recreate(f, 2)
			recreate(f, 1)
		}, ""},
		"a template comes back after a sync has seen another one": {minute, func(f *film) {
			reachTwo(f)
			f.update("a")
			f.status(func(s *v1.StatefulSetStatus) { s.Rollout = nil })
			f.update("b")
			recreate(f, 2)
			f.ready(2, true)
			recreate(f, 1)
		}, "too short: member 1"},
	})
}

func TestReplacements(t *testing.T) {
	ask := func(f *film) {
		f.edit(func(set *v1.StatefulSet) {
			set.Status.Replacements = []v1.MemberReplacement{{Ordinal: 1, PodUID: f.pods["web-1"].UID}}
		})
	}
	forget := func(f *film) { f.status(func(s *v1.StatefulSetStatus) { s.Replacements = nil }) }
	checkPromises(t, "replacement", map[string]promise{
		"a request is dropped": {play: func(f *film) {
			ask(f)
			forget(f)
		}, want: "forgotten: pod web-1"},
		"a request is fulfilled": {play: func(f *film) {
			ask(f)
			f.remove(1)
			forget(f)
			f.create(1, "a")
		}},
		"nothing happens": {play: func(f *film) {
			ask(f)
			f.judge.Rested()
		}, want: "pending: pod web-1"},
		"another member is not ready": {play: func(f *film) {
			ask(f)
			f.ready(0, false)
			f.judge.Rested()
		}},
	})
}
