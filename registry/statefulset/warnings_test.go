// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestWarnings(t *testing.T) {
	tests := map[string]struct {
		change func(*v1.StatefulSet)
		want   string // empty for none
	}{
		"are not given for an ordinary set":         {change: func(*v1.StatefulSet) {}},
		"are not given for the longest usable name": {change: func(set *v1.StatefulSet) { set.Name = strings.Repeat("a", 52) }},
		"are given for a name that leaves no room for the revision": {
			change: func(set *v1.StatefulSet) { set.Name = strings.Repeat("a", 53) },
			want:   `metadata.name: "` + strings.Repeat("a", 53) + `" has 53 characters, more than 52: pods may not be created`,
		},
		"are given for a history without end": {
			change: func(set *v1.StatefulSet) { set.Spec.RevisionHistoryLimit = ptr.To[int32](-1) },
			want:   "spec.revisionHistoryLimit: -1 is below 0",
		},
		"are given for a claim that no container mounts": {
			change: func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, settest.ClaimTemplate("unused"))
			},
			want: `spec.volumeClaimTemplates[1].metadata.name: "unused" is mounted by no container`,
		},
		"are not given for a claim that an init container uses as a device": {
			change: func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, settest.ClaimTemplate("used"))
				set.Spec.Template.Spec.InitContainers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "used", DevicePath: "/dev/x"}}
			},
		},
		"are given for pods that end at once": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.TerminationGracePeriodSeconds = ptr.To[int64](0) }),
			want:   "spec.template.spec.terminationGracePeriodSeconds: 0 removes a pod before its processes have ended",
		},
		"are given for a Service that is not there": {
			change: func(set *v1.StatefulSet) { set.Spec.ServiceName = "absent" },
			want:   `spec.serviceName: namespace "default" has no headless Service "absent" now`,
		},
		"are not given for a set without a Service": {change: func(set *v1.StatefulSet) { set.Spec.ServiceName = "" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(warnings(t.Context(), settest.Changed(test.change), nil, services{"nginx": true}), "\n")
			if !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("warnings: got %q, want %q", got, test.want)
			}
		})
	}
}

// services are the headless Services that are known, by name.
type services map[string]bool

func (s services) Service(_ context.Context, _, name string) (*corev1.Service, bool) {
	if !s[name] {
		return nil, true
	}
	return headless(name, nil), true
}

func (services) LacksStorageClass(context.Context, string) bool { return false }

func headless(name string, selector map[string]string) *corev1.Service {
	service := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: selector}}
	service.Name = name
	return service
}

func TestWarningsAreRepeatedForWhatIsNew(t *testing.T) {
	bad := func() *v1.StatefulSet {
		return settest.Changed(func(set *v1.StatefulSet) {
			set.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
			set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, settest.ClaimTemplate("unused"))
			set.Spec.ServiceName = "absent"
		})
	}
	scaled, another := bad(), bad()
	scaled.Spec.Replicas = ptr.To[int32](9)
	another.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	for name, c := range map[string]struct {
		set, old *v1.StatefulSet
		want     int
	}{
		"three for a new set":                                                   {bad(), nil, 3},
		"none when it is scaled":                                                {scaled, bad(), 0},
		"one for a template in which the claim is not mounted":                  {another, bad(), 1},
		"all three for a set that becomes so, and one for the service that was": {bad(), settest.Valid(), 4},
	} {
		if got := warnings(t.Context(), c.set, c.old, services{"nginx": true}); len(got) != c.want {
			t.Errorf("%s: got %q, want %d", name, got, c.want)
		}
	}
	if got := warnings(t.Context(), bad(), nil, nil); len(got) != 2 {
		t.Errorf("when nobody knows the Services: got %q, want 2 warnings", got)
	}
}

func TestWarningsAboutMembersThatMove(t *testing.T) {
	type edit = func(*v1.StatefulSetSpec)
	reserve := func(ranges ...v1.OrdinalRange) edit {
		return func(s *v1.StatefulSetSpec) { s.Ordinals = &v1.StatefulSetOrdinals{Reserved: ranges} }
	}
	for sentence, test := range map[string]struct {
		edits []edit
		want  []string
	}{
		"nothing is reserved": {nil, nil},
		"what no member has":  {[]edit{reserve(v1.OrdinalRange{First: 3})}, nil},
		"a member, with one fewer": {
			[]edit{reserve(v1.OrdinalRange{First: 1}), func(s *v1.StatefulSetSpec) { s.Replicas = ptr.To[int32](2) }}, nil},
		"a member": {
			[]edit{reserve(v1.OrdinalRange{First: 1})},
			[]string{"spec.ordinals.reserved: member web-1 is removed, and as many are created at other ordinals; to remove members without that, lower spec.replicas in the same write"}},
		"two members and their data": {[]edit{reserve(v1.OrdinalRange{First: 1, Last: ptr.To[int32](7)}), func(s *v1.StatefulSetSpec) {
			s.Replicas = ptr.To[int32](1)
			s.PersistentVolumeClaimRetentionPolicy.WhenScaled = v1.DeletePersistentVolumeClaimRetentionPolicyType
		}}, []string{
			"spec.ordinals.reserved: members web-1 and 1 more are removed, and their claims are deleted, because persistentVolumeClaimRetentionPolicy.whenScaled is Delete"}},
		"another service": {[]edit{func(s *v1.StatefulSetSpec) { s.ServiceName = "" }},
			[]string{`spec.serviceName: members keep their DNS names in Service "nginx" until they are recreated; keep that Service until then`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := settest.Valid()
			for _, edit := range test.edits {
				edit(&set.Spec)
			}
			if got := warnings(t.Context(), set, settest.Valid(), nil); !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

func TestOfManyUnmountedClaimsSomeAreNamed(t *testing.T) {
	got := warnings(t.Context(), settest.ManyClaims(1000, false), nil, nil)
	if want := "spec.volumeClaimTemplates: 995 more are mounted by no container"; len(got) != mostUnmounted+1 || got[mostUnmounted] != want {
		t.Errorf("got %d warnings, the last %q, want %d and %q", len(got), got[len(got)-1], mostUnmounted+1, want)
	}
}

// A partition counts reserved ordinals, so reserving some of them leaves fewer members alone.
func TestWarnsOfReservedOrdinalsBelowThePartition(t *testing.T) {
	set := func(partition int32, reserved ...v1.OrdinalRange) *v1.StatefulSet {
		set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Replicas: new(int32(5)), Ordinals: &v1.StatefulSetOrdinals{Start: 1, Reserved: reserved}}}
		set.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{Partition: &partition}
		return set
	}
	two, nine := v1.OrdinalRange{First: 2}, v1.OrdinalRange{First: 9}
	for name, c := range map[string]struct {
		set, old *v1.StatefulSet
		want     int
	}{
		"an ordinal below it is reserved":       {set(2, two), set(2), 1},
		"it is raised above a reserved ordinal": {set(2, two), set(1, two), 1},
		"nothing changes":                       {set(2, two), set(2, two), 0},
		"an ordinal above it is reserved":       {set(2, nine), set(2), 0},
		"there is no partition":                 {set(0, two), set(0), 0},
		"it is greater than any ordinal":        {set(math.MaxInt32, two), set(0, two), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := partitioning(c.set, c.old); len(got) != c.want {
				t.Errorf("got %q, want %d warnings", got, c.want)
			}
		})
	}
}
