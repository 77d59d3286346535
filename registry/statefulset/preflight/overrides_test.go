// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// overrides are so many that make different pods.
func overrides(n int) (all []v1.MemberOverride) {
	for i := range n {
		all = append(all, v1.MemberOverride{
			Name: fmt.Sprint("o", i), Ordinals: []v1.OrdinalRange{{First: int32(i)}}, NodeSelector: map[string]string{"disk": fmt.Sprint(i)}})
	}
	return all
}

func TestAnOverrideIsTriedWhenItMakesAnotherPod(t *testing.T) {
	with := func(change func([]v1.MemberOverride)) *v1.StatefulSet {
		return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Overrides = overrides(2)
			change(s.Overrides)
		}))
	}
	for sentence, test := range map[string]struct {
		change func([]v1.MemberOverride)
		want   int
	}{
		"not for another name and other members": {func(o []v1.MemberOverride) { o[0].Name, o[0].Ordinals[0].First = "other", 9 }, 0},
		"not for another claim": {func(o []v1.MemberOverride) {
			o[0].VolumeClaims = []v1.VolumeClaimOverride{{Name: "www", StorageClassName: new("fast")}}
		}, 0},
		"for another node selector":                       {func(o []v1.MemberOverride) { o[1].NodeSelector["disk"] = "nvme" }, 2},
		"not for one that another override of before had": {func(o []v1.MemberOverride) { o[1].NodeSelector["disk"] = "0" }, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := willing()
			admit := Preflight{Host: host}.AfterUpdate(rest.ValidateAllObjectUpdateFunc)
			if err := admit(t.Context(), with(test.change), with(func([]v1.MemberOverride) {})); err != nil {
				t.Fatalf("got %v, want no error", err)
			}
			if got := len(host.kinds()); got != test.want {
				t.Errorf("tried on the host: got %d objects, want %d", got, test.want)
			}
		})
	}
}

// TestWhatTheHostFindsInAnOverrideIsFoundThere is about a host that finds a fault in one pod only,
// or in all of them.
func TestWhatTheHostFindsInAnOverrideIsFoundThere(t *testing.T) {
	set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
		s.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}, {Name: "B"}}
		s.Template.Spec.Tolerations = []corev1.Toleration{{Key: "a"}}
		s.Overrides = overrides(2)
		s.Overrides[1].Tolerations = []corev1.Toleration{{Key: "b"}}
		s.Overrides[1].Containers = []v1.ContainerOverride{
			{Name: "nginx", Image: "x", Resources: &corev1.ResourceRequirements{}, Env: []corev1.EnvVar{{Name: "B", Value: "1"}}}}
	}))
	isOverridden := func(spec corev1.PodSpec) bool { return spec.NodeSelector["disk"] == "1" }
	for field, want := range map[string]string{
		"template.spec.containers[0].image":                 "spec.overrides[1].containers[0].image",
		"template.spec.containers[0].resources.limits[cpu]": "spec.overrides[1].containers[0].resources.limits[cpu]",
		"template.spec.containers[0].env[1].valueFrom":      "spec.overrides[1].containers[0].env[0].valueFrom",
		"template.spec.containers[0].env[0].valueFrom":      "spec.template.spec.containers[0].env[0].valueFrom",
		"template.spec.tolerations[1].operator":             "spec.overrides[1].tolerations[0].operator",
		"template.spec.tolerations[0].operator":             "spec.template.spec.tolerations[0].operator",
		"template.spec.nodeSelector":                        "spec.overrides[1].nodeSelector",
		"template.spec.initContainers[0].image":             "spec.template.spec.initContainers[0].image",
	} {
		for who, everywhere := range map[string]bool{"the pod of the override": false, "all pods": true} {
			host := &answeringHost{answer: func(object runtime.Object) Answer {
				template, ok := object.(*corev1.PodTemplate)
				if ok && (everywhere || isOverridden(template.Template.Spec)) {
					return Answer{Err: invalidAt(field)}
				}
				return Answer{}
			}}
			err := Preflight{Host: host}.AfterCreate(rest.ValidateAllObjectFunc)(t.Context(), set)
			got := settest.Causes(t, err)
			if !everywhere && (len(got) != 1 || !strings.HasPrefix(got[0], want+":")) {
				t.Errorf("%s in %s: got %q, want one of %s", field, who, got, want)
			}
			if everywhere && len(got) > 3 {
				t.Errorf("%s in %s: got %q, want each once", field, who, got)
			}
		}
	}
}

func TestAtMostTenOverridesAreTriedForARequest(t *testing.T) {
	for sentence, test := range map[string]struct {
		overrides int
		tried     int
		warning   string
	}{
		"ten": {10, 3 + 20, ""},
		"as many as there may be": {
			50, 3 + 20, "spec.overrides[10] to spec.overrides[49]: not checked: for one request at most 10 overrides are tried on the host cluster"},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := willing()
			ctx, warnings := warningsOf(t.Context())
			set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.Overrides = overrides(test.overrides) }))
			err := Preflight{Host: host}.AfterCreate(rest.ValidateAllObjectFunc)(ctx, set)
			if got := len(host.kinds()); err != nil || got != test.tried || strings.Join(warnings.texts, "; ") != test.warning {
				t.Errorf("got %d objects tried, error %v and warnings %q, want %d, none and %q", got, err, warnings.texts, test.tried, test.warning)
			}
		})
	}
}
