// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// override is one of the given ordinals.
func override(name string, ordinals ...v1.OrdinalRange) v1.MemberOverride {
	return v1.MemberOverride{Name: name, Ordinals: ordinals}
}

func upTo(first, last int32) v1.OrdinalRange {
	return v1.OrdinalRange{First: first, Last: &last}
}

func resources(list corev1.ResourceList) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Requests: list}
}

func TestOverrides(t *testing.T) {
	one := func(change func(*v1.MemberOverride)) []v1.MemberOverride {
		o := override("big", upTo(0, 0))
		change(&o)
		return []v1.MemberOverride{o}
	}
	container := func(change func(*v1.ContainerOverride)) []v1.MemberOverride {
		return one(func(o *v1.MemberOverride) {
			o.Containers = []v1.ContainerOverride{{Name: "nginx"}}
			change(&o.Containers[0])
		})
	}
	many := make([]v1.MemberOverride, 51)
	for i := range many {
		many[i] = override(fmt.Sprintf("o%d", i), upTo(int32(i), int32(i)))
	}
	for sentence, test := range map[string]struct {
		overrides []v1.MemberOverride
		want      []string
	}{
		"of all that they can have are accepted": {overrides: one(func(o *v1.MemberOverride) {
			o.Labels, o.Annotations, o.NodeSelector = map[string]string{"size": "big"}, map[string]string{"note": "x"},
				map[string]string{"disk": "nvme"}
			o.Tolerations = []corev1.Toleration{{Key: "disk", Operator: corev1.TolerationOpExists}}
			o.Containers = []v1.ContainerOverride{{Name: "nginx", Image: "nginx:2", Env: []corev1.EnvVar{{Name: "A", Value: "1"}},
				Resources: resources(corev1.ResourceList{"memory": resource.MustParse("8Gi")})}, {Name: "prepare", Image: "busybox:2"}}
			o.VolumeClaims = []v1.VolumeClaimOverride{
				{Name: "www", Storage: new(resource.MustParse("2Gi")), StorageClassName: new("fast"), VolumeAttributesClassName: new("gold")}}
		})},
		"of members that nobody wants now are accepted": {overrides: []v1.MemberOverride{override("big", upTo(900, 999))}},
		"of neighbours are accepted": {
			overrides: []v1.MemberOverride{override("a", upTo(1, 2), upTo(5, 5)), override("b", upTo(3, 4), upTo(0, 0))}},
		"of one member": {
			overrides: []v1.MemberOverride{override("big", upTo(0, 9)), override("small", upTo(20, 21), upTo(3, 4))},
			want:      []string{`spec.overrides[1].ordinals: Invalid value: "20 to 21, 3 to 4": 3 is already overridden by "big"`},
		},
		"of one member, of which the first comes later": {
			overrides: []v1.MemberOverride{override("big", upTo(4, 9)), override("other", upTo(30, 30)), override("small", upTo(2, 5))},
			want:      []string{`spec.overrides[2].ordinals: Invalid value: "2 to 5": 4 is already overridden by "big"`},
		},
		"of one member, with ranges between": {
			overrides: []v1.MemberOverride{
				override("a", upTo(0, 9), upTo(12, 12)), override("b", upTo(10, 11)), override("c", upTo(9, 9), upTo(13, 13))},
			want: []string{`spec.overrides[2].ordinals: Invalid value: "9, 13": 9 is already overridden by "a"`},
		},
		"of no member, and of ranges that are none": {
			overrides: []v1.MemberOverride{override("none"), override("bad", upTo(-1, 0), upTo(5, 4), upTo(6, 7), upTo(7, 8))},
			want: []string{
				"spec.overrides[0].ordinals: Required value: at least one range of ordinals is needed",
				`spec.overrides[1].ordinals[0].first: Invalid value: -1: must be greater than or equal to 0`,
				`spec.overrides[1].ordinals[1].last: Invalid value: 4: must not be less than first (5)`,
				`spec.overrides[1].ordinals[3]: Invalid value: "7 to 8": overlaps spec.overrides[1].ordinals[2], which is 6 to 7`,
			},
		},
		"of one name, of none, and of one that is no label": {
			overrides: []v1.MemberOverride{
				override("a", upTo(0, 0)), override("a", upTo(1, 1)), override("", upTo(2, 2)), override("A b", upTo(3, 3))},
			want: []string{
				`spec.overrides[1].name: Duplicate value: "a"`,
				"spec.overrides[2].name: Required value",
				`spec.overrides[3].name: Invalid value: "A b": a lowercase RFC 1123 label must`,
			},
		},
		"that are too many": {overrides: many, want: []string{"spec.overrides: Too many: 51: must have at most 50 items"}},
		"with labels by which members are found": {
			overrides: one(func(o *v1.MemberOverride) {
				o.Labels = map[string]string{"app": "web", "apps.kubernetes.io/pod-index": "1", "controller-revision-hash": "x",
					"statefulset.kubernetes.io/pod-name": "x", "b ad": "x"}
			}),
			want: []string{
				`spec.overrides[0].labels: Invalid value: "b ad"`,
				"spec.overrides[0].labels[app]: Forbidden: is in spec.selector",
				"spec.overrides[0].labels[apps.kubernetes.io/pod-index]: Forbidden: identifies the member of a pod",
				"spec.overrides[0].labels[controller-revision-hash]: Forbidden: identifies the member of a pod",
				"spec.overrides[0].labels[statefulset.kubernetes.io/pod-name]: Forbidden: identifies the member of a pod",
			},
		},
		"with annotations that the controller sets": {
			overrides: one(func(o *v1.MemberOverride) {
				o.Annotations = map[string]string{v1.OverrideAnnotation: "x", v1.ClaimTemplatesAnnotation: "x"}
			}),
			want: []string{
				"spec.overrides[0].annotations[apps.statefulset.dev/claim-templates]: Forbidden: keys of apps.statefulset.dev are set by the controller",
				"spec.overrides[0].annotations[apps.statefulset.dev/override]: Forbidden: keys of apps.statefulset.dev are set by the controller",
			},
		},
		"with a node selector and tolerations that are none": {
			overrides: one(func(o *v1.MemberOverride) {
				o.NodeSelector, o.Tolerations = map[string]string{"disk": "b ad"}, []corev1.Toleration{{Key: "b ad"}}
			}),
			want: []string{`spec.overrides[0].nodeSelector: Invalid value: "b ad"`, `spec.overrides[0].tolerations[0].key: Invalid value: "b ad"`},
		},
		"of containers that there are not, or twice": {
			overrides: one(func(o *v1.MemberOverride) {
				o.Containers = []v1.ContainerOverride{{Name: "db"}, {Name: "nginx"}, {Name: "nginx"}, {}}
			}),
			want: []string{
				`spec.overrides[0].containers[0].name: Not found: "db"`,
				`spec.overrides[0].containers[2].name: Duplicate value: "nginx"`,
				"spec.overrides[0].containers[3].name: Required value",
			},
		},
		"with variables that are none, or twice": {
			overrides: container(func(c *v1.ContainerOverride) { c.Env = []corev1.EnvVar{{Name: "A"}, {Name: "A"}, {}, {Name: "B="}} }),
			want: []string{
				`spec.overrides[0].containers[0].env[1].name: Duplicate value: "A"`,
				"spec.overrides[0].containers[0].env[2].name: Required value",
				`spec.overrides[0].containers[0].env[3].name: Invalid value: "B="`,
			},
		},
		"with resources that cannot be": {
			overrides: container(func(c *v1.ContainerOverride) {
				c.Resources = &corev1.ResourceRequirements{
					Limits: corev1.ResourceList{"cpu": resource.MustParse("-1")}, Claims: []corev1.ResourceClaim{{Name: "gpu"}}}
			}),
			want: []string{
				"spec.overrides[0].containers[0].resources.claims: Forbidden: only limits and requests can be overridden",
				`spec.overrides[0].containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			},
		},
		"with a request above the limit": {
			overrides: container(func(c *v1.ContainerOverride) {
				c.Resources = &corev1.ResourceRequirements{
					Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}, Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}}
			}),
			want: []string{
				`spec.overrides[0].containers[0].resources.requests[cpu]: Invalid value: "2": must be less than or equal to the limit of 1`},
		},
		"of claims that there are not, or that cannot be": {
			overrides: one(func(o *v1.MemberOverride) {
				o.VolumeClaims = []v1.VolumeClaimOverride{{Name: "data"},
					{Name: "www", Storage: new(resource.MustParse("0")), StorageClassName: new("b ad"), VolumeAttributesClassName: new("")}}
			}),
			want: []string{
				`spec.overrides[0].volumeClaims[0].name: Not found: "data"`,
				`spec.overrides[0].volumeClaims[1].storage: Invalid value: "0": must be greater than zero`,
				`spec.overrides[0].volumeClaims[1].storageClassName: Invalid value: "b ad"`,
				`spec.overrides[0].volumeClaims[1].volumeAttributesClassName: Invalid value: ""`,
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := func() *v1.StatefulSet {
				return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.Overrides = test.overrides }))
			}
			verdict{want: test.want}.check(t, onUpdate(t, set()))
			verdict{want: test.want}.check(t, onCreate(t, set()))
		})
	}
}

func TestALabelOfAnExpressionOfTheSelectorIsNotOverridden(t *testing.T) {
	set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
		s.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{
			{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"test"}}}
		o := override("big", upTo(0, 0))
		o.Labels = map[string]string{"tier": "db"}
		s.Overrides = []v1.MemberOverride{o}
	}))
	verdict{want: []string{"spec.overrides[0].labels[tier]: Forbidden: is in spec.selector"}}.check(t, onCreate(t, set))
}

// A template that is undone may lack a container that an override names.
func TestATemplateMayLackWhatAnOverrideNames(t *testing.T) {
	o := override("big", upTo(0, 0))
	o.Containers = []v1.ContainerOverride{{Name: "db", Image: "db:1"}}
	o.VolumeClaims = []v1.VolumeClaimOverride{{Name: "data", Storage: new(resource.MustParse("1Gi"))}}
	with := settest.Spec(func(s *v1.StatefulSetSpec) { s.Overrides = []v1.MemberOverride{o} })
	old := settest.Changed(with)
	set := settest.Changed(with)
	set.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	if errs := ValidateUpdate(nil, set, old); len(errs) > 0 {
		t.Errorf("got %v, want it accepted", errs)
	}
	want := []string{
		`spec.overrides[0].containers[0]: the template has no container "db", so this part of the override is ignored at its revision`,
		`spec.overrides[0].volumeClaims[0]: there is no claim template "data", so this part of the override is ignored`,
	}
	if got := warnings(t.Context(), set, old, services{"nginx": true}); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got the warnings %q, want %q", got, want)
	}
}

func TestWarningsOfOverriddenClaims(t *testing.T) {
	with := func(size, class string, policy v1.VolumeClaimUpdatePolicyType) *v1.StatefulSet {
		return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
			if policy != "" {
				s.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: policy}
			}
			o := override("big", upTo(0, 0))
			o.VolumeClaims = []v1.VolumeClaimOverride{{Name: "www", Storage: new(resource.MustParse(size))}}
			if class != "" {
				o.VolumeClaims[0].StorageClassName = &class
			}
			s.Overrides = []v1.MemberOverride{o}
		}))
	}
	const noGrowth = "spec.overrides[0].volumeClaims[0].storage: 2Gi applies to new claims only: existing claims keep their size; to grow them, set spec.volumeClaimUpdate.policy to InPlace"
	for sentence, test := range map[string]struct {
		from, to *v1.StatefulSet
		want     string // empty for none
	}{
		"are not given where they grow":          {with("1Gi", "", "InPlace"), with("2Gi", "", "InPlace"), ""},
		"are not given for what does not change": {with("2Gi", "fast", ""), with("2Gi", "fast", ""), ""},
		"are given where they do not grow":       {with("1Gi", "", "NewClaims"), with("2Gi", "", "NewClaims"), noGrowth},
		"are given where they cannot change":     {settest.Valid(), with("2Gi", "", ""), noGrowth},
		"are given for a class": {with("1Gi", "", "InPlace"), with("1Gi", "fast", "InPlace"),
			`spec.overrides[0].volumeClaims[0].storageClassName: "fast" applies to new claims only: existing claims keep their class`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := warnings(t.Context(), test.to, test.from, services{"nginx": true})
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
		})
	}
}
