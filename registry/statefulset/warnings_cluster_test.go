// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// aCluster has one Service, nil for none, and is asked for StorageClasses, of which it has some.
type aCluster struct {
	service *corev1.Service
	unknown bool
	classes []string
	asked   []string
}

func (c *aCluster) Service(context.Context, string, string) (*corev1.Service, bool) {
	return c.service, !c.unknown
}

func (c *aCluster) LacksStorageClass(_ context.Context, name string) bool {
	c.asked = append(c.asked, name)
	return !slices.Contains(c.classes, name)
}

func TestWarningsAboutTheServiceOfASet(t *testing.T) {
	template := settest.Valid().Spec.Template.Labels
	ofType := func(kind corev1.ServiceType, ip string) *corev1.Service {
		service := headless("nginx", template)
		service.Spec.Type, service.Spec.ClusterIP = kind, ip
		return service
	}
	relabelled := func(set *v1.StatefulSet) { set.Spec.Template.Labels["tier"] = "db" }
	const noMember = `spec.serviceName: the selector of Service "nginx" (app=other) does not match the labels of spec.template (app=web), so members have no DNS names; change the selector or the labels`
	for sentence, test := range map[string]struct {
		service *corev1.Service
		unknown bool
		change  func(*v1.StatefulSet)
		old     *v1.StatefulSet
		want    string // empty for none
	}{
		"a headless Service that selects members": {service: headless("nginx", template)},
		"nobody knows": {unknown: true},
		"there is none": {
			want: `spec.serviceName: namespace "default" has no headless Service "nginx" now, and without it members have no DNS names; create one, with clusterIP: None`},
		"a Service with a cluster IP": {service: ofType(corev1.ServiceTypeClusterIP, "10.0.0.7"),
			want: `spec.serviceName: Service "nginx" is not headless: it has the cluster IP 10.0.0.7, so members have no DNS names; clusterIP is immutable: use another Service with clusterIP: None, or delete this one and recreate it with clusterIP: None`},
		"a Service that is a name elsewhere": {service: ofType(corev1.ServiceTypeExternalName, ""),
			want: `spec.serviceName: Service "nginx" is of type ExternalName, so members have no DNS names; use a headless Service, with clusterIP: None`},
		"a headless Service that selects other pods": {service: headless("nginx", map[string]string{"app": "other"}), want: noMember},
		"a headless Service without a selector":      {service: headless("nginx", nil)},
		"a headless Service of one member": {
			service: headless("nginx", map[string]string{"statefulset.kubernetes.io/pod-name": "web-0"})},
		"a headless Service that members had before": {service: headless("nginx", map[string]string{"app": "other"}), old: settest.Valid()},
		"the labels of members change, and do not match": {
			service: headless("nginx", map[string]string{"app": "other"}), change: relabelled, old: settest.Valid(),
			want: `spec.serviceName: the selector of Service "nginx" (app=other) does not match the labels of spec.template (app=web,tier=db), so members have no DNS names; change the selector or the labels`},
		"the labels of members change, and there was none": {change: relabelled, old: settest.Valid()},
		"an override gives a member the label": {
			service: headless("nginx", map[string]string{"role": "canary"}), change: func(set *v1.StatefulSet) {
				set.Spec.Overrides = []v1.MemberOverride{
					{Name: "canary", Ordinals: []v1.OrdinalRange{{First: 0}}, Labels: map[string]string{"role": "canary"}}}
			}},
		"a transform may give members the label": {
			service: headless("nginx", map[string]string{"role": "canary"}), change: func(set *v1.StatefulSet) {
				set.Spec.Identity = &v1.MemberIdentity{Transforms: []v1.Transform{{Path: "/metadata/labels/role", Expression: `"canary"`}}}
			}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := settest.Valid()
			if test.change != nil {
				test.change(set)
			}
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			got := unknownToCluster(t.Context(), set, test.old, &aCluster{service: test.service, unknown: test.unknown})
			if !slices.Equal(got, want) {
				t.Errorf("got\n%q\nwant\n%q", got, want)
			}
		})
	}
}

func TestWarningsAboutStorageClasses(t *testing.T) {
	with := func(classes ...string) *v1.StatefulSet {
		return settest.Changed(func(set *v1.StatefulSet) {
			set.Spec.ServiceName, set.Spec.VolumeClaimTemplates = "", nil
			for i, class := range classes {
				template := settest.ClaimTemplate(fmt.Sprintf("data-%d", i))
				if template.Spec.StorageClassName = &class; class == "default" {
					template.Spec.StorageClassName = nil
				}
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, template)
			}
		})
	}
	overridden := with("fast")
	overridden.Spec.Overrides = []v1.MemberOverride{
		{Name: "big", VolumeClaims: []v1.VolumeClaimOverride{{Name: "data-0", StorageClassName: new("fats")}}}}
	missing := func(at, class string) string {
		return fmt.Sprintf(
			"%s: the cluster has no StorageClass %q now, so claims get a volume only if a PersistentVolume of that class exists; create the class, or use one that kubectl get storageclasses lists", at, class)
	}
	for sentence, test := range map[string]struct {
		set, old *v1.StatefulSet
		want     []string
		asked    int
	}{
		"one that exists":         {set: with("fast"), asked: 1},
		"none, and the empty one": {set: with("default", "")},
		"one that does not exist": {
			set: with("fast", "fats"), want: []string{missing("spec.volumeClaimTemplates[1].spec.storageClassName", "fats")}, asked: 2},
		"one of an override": {
			set: overridden, want: []string{missing("spec.overrides[0].volumeClaims[0].storageClassName", "fats")}, asked: 2},
		"one that is used twice": {
			set: with("fats", "fats"), want: []string{missing("spec.volumeClaimTemplates[0].spec.storageClassName", "fats")}, asked: 1},
		"one that the set had before": {set: with("fats"), old: with("fats")},
		"one that is new in the set": {
			set: with("fats"), old: with("fast"), want: []string{missing("spec.volumeClaimTemplates[0].spec.storageClassName", "fats")}, asked: 1},
		"more than are looked up for one write": {
			set: with("fast", "slow-1", "slow-2", "slow-3", "slow-4", "slow-5", "slow-6"), want: nil, asked: mostClasses},
	} {
		t.Run(sentence, func(t *testing.T) {
			cluster := &aCluster{classes: []string{"fast", "slow-1", "slow-2", "slow-3", "slow-4"}}
			if got := unknownToCluster(t.Context(), test.set, test.old, cluster); !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
			if len(cluster.asked) != test.asked {
				t.Errorf("asked the cluster for %q, want %d StorageClasses", cluster.asked, test.asked)
			}
		})
	}
}
