// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
		"a share is rounded down":                 {rolling{MaxUnavailable: new(intstr.FromString("50%"))}, func(f *film) { f.remove(2, 1) }, "removed: pod web-1"},
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
