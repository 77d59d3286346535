// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestAChange(t *testing.T) {
	tests := map[string]verdict{
		"of nothing is accepted": {change: func(*v1.StatefulSet) {}},
		"of all that may change is accepted": {change: settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Replicas, s.MinReadySeconds, s.RevisionHistoryLimit = ptr.To[int32](9), 5, ptr.To[int32](1)
			s.Ordinals = &v1.StatefulSetOrdinals{Start: 4}
			s.Template.Spec.Containers[0].Image = "nginx:2"
			s.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType}
			s.PersistentVolumeClaimRetentionPolicy.WhenScaled = v1.DeletePersistentVolumeClaimRetentionPolicyType
		})},
		"of what apps/v1 freezes without need is accepted": {change: settest.Spec(func(s *v1.StatefulSetSpec) {
			s.ServiceName, s.PodManagementPolicy = "other", v1.ParallelPodManagement
		})},
		"of the service into none is accepted": {change: settest.Spec(func(s *v1.StatefulSetSpec) { s.ServiceName = "" })},
		"of the service into what is no name": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.ServiceName = "a.b" }),
			want:   []string{`spec.serviceName: Invalid value: "a.b": `},
		},
		"of the management policy into one that there is not": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.PodManagementPolicy = "Chaotic" }),
			want:   []string{`spec.podManagementPolicy: Invalid value: "Chaotic": must be "OrderedReady" or "Parallel"`},
		},
		"of reserved ordinals is accepted": {change: settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 7, Last: ptr.To[int32](9)}, {First: 2}}}
		})},
		"of reserved ordinals into ranges that are none, or overlap": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Ordinals = &v1.StatefulSetOrdinals{
					Reserved: []v1.OrdinalRange{{First: 1}, {First: 5, Last: ptr.To[int32](3)}, {First: 0, Last: ptr.To[int32](4)}}}
			}),
			want: []string{
				"spec.ordinals.reserved[1].last: Invalid value: 3: must not be less than first (5)",
				`spec.ordinals.reserved[2]: Invalid value: "0 to 4": overlaps spec.ordinals.reserved[0], which is 1`,
			},
		},
		"of reserved ordinals that leaves too few": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 1, Last: ptr.To[int32](math.MaxInt32 - 1)}}}
			}),
			want: []string{
				"spec.ordinals.start: Invalid value: 0: with 3 replicas and 2147483646 reserved ordinals the highest ordinal would be 2147483648; it must be at most 2147483647"},
		},
		"of reserved ordinals into one below zero": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: -1}}}
			}),
			want: []string{"spec.ordinals.reserved[0].first: Invalid value: -1: must be greater than or equal to 0"},
		},
		"of reserved ordinals into too many ranges": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Ordinals = &v1.StatefulSetOrdinals{}
				for i := range int32(101) {
					s.Ordinals.Reserved = append(s.Ordinals.Reserved, v1.OrdinalRange{First: 10 * i})
				}
			}),
			want: []string{"spec.ordinals.reserved: Too many: 101: must have at most 100 items"},
		},
		"of the patience with unready members into less than none": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.UpdateStrategy.RollingUpdate.ReplaceUnreadyAfterSeconds = ptr.To[int32](-1)
			}),
			want: []string{"spec.updateStrategy.rollingUpdate.replaceUnreadyAfterSeconds: Invalid value: -1: must be greater than or equal to 0"},
		},
		"of a claim template": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Name = "tmp" }),
			want: []string{
				`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "www"`,
				`spec.volumeClaimTemplates: Invalid value: field is immutable: spec.volumeClaimTemplates[0].metadata.name is "tmp", and was "www"; set spec.volumeClaimUpdate to change it`,
			},
		},
		"of a claim template whose set says what becomes of the claims": {
			change: func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
				set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("20Gi")
			},
		},
		"of claim templates into ones that cannot be": {
			change: func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.NewClaimsVolumeClaimUpdatePolicyType}
				set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("0")
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, set.Spec.VolumeClaimTemplates[0])
			},
			want: []string{
				`spec.volumeClaimTemplates[0].spec.resources[storage]: Invalid value: "0": must be greater than zero`,
				`spec.volumeClaimTemplates[1].metadata.name: Duplicate value: "www"`,
				`spec.volumeClaimTemplates[1].spec.resources[storage]: Invalid value: "0": must be greater than zero`,
			},
		},
		"of what becomes of claims into a word that means nothing": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: "Shrink"}
			}),
			want: []string{`spec.volumeClaimUpdate.policy: Unsupported value: "Shrink": supported values: "InPlace", "NewClaims"`},
		},
		"of what becomes of claims into nothing": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{} }),
			want:   []string{"spec.volumeClaimUpdate.policy: Required value"},
		},
		"of the selector": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Selector.MatchLabels["tier"] = "front"
				s.Template.Labels["tier"] = "front"
			}),
			want: []string{
				`spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"front"}}: field is immutable: spec.selector.matchLabels.tier is "front", and was not set`},
		},
		"of the template into one that cannot run": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].Image = "" }),
			want:   []string{"spec.template.spec.containers[0].image: Required value"},
		},
		"to fewer than no replicas": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Replicas = ptr.To[int32](-1) }),
			want:   []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.check(t, onUpdate(t, settest.Changed(test.change))) })
	}
}

func TestASetFromBeforeARuleCanStillBeScaled(t *testing.T) {
	old := settest.Changed(func(set *v1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].Image = ""
		set.Spec.ServiceName = "my.service"
		set.Spec.VolumeClaimTemplates[0].Spec.AccessModes = nil
	})
	set := old.DeepCopy()
	set.Spec.Replicas = ptr.To[int32](1)
	if errs := ValidateUpdate(nil, set, old); len(errs) > 0 {
		t.Errorf("scaling: got %v, want no error", errs)
	}
}
