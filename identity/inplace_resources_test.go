// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
)

// quantities are a list of resources, of name and quantity in turn.
func quantities(words ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(words); i += 2 {
		list[corev1.ResourceName(words[i])] = resource.MustParse(words[i+1])
	}
	return list
}

func requesting(words ...string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: quantities(words...)}
}

func limitedTo(words ...string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Limits: quantities(words...)}
}

// sizedTemplate has a container that requests and is limited, a sidecar and an init container
// that ends.
func sizedTemplate() *corev1.PodTemplateSpec {
	template := inPlaceTemplate()
	template.Spec.InitContainers[0].Resources = requesting("cpu", "1")
	template.Spec.InitContainers[1].Resources = requesting("cpu", "1")
	template.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Requests: quantities("cpu", "1", "memory", "1Gi", "ephemeral-storage", "1Gi"), Limits: quantities("memory", "2Gi")}
	template.Spec.Containers[1].Resources = limitedTo("memory", "1Gi")
	return template
}

func TestWhatCanBeResized(t *testing.T) {
	reads := func(container, what string) *corev1.ResourceFieldSelector {
		return &corev1.ResourceFieldSelector{ContainerName: container, Resource: what}
	}
	db := func(p *corev1.PodTemplateSpec) *corev1.Container { return &p.Spec.Containers[0] }
	for sentence, test := range map[string]struct {
		also, change func(*corev1.PodTemplateSpec)
		want         map[string]corev1.ResourceRequirements
		prevented    string
	}{
		"requests and limits": {nil, func(p *corev1.PodTemplateSpec) {
			db(p).Resources.Requests["cpu"], db(p).Resources.Limits["memory"] = resource.MustParse("2"), resource.MustParse("4Gi")
		}, map[string]corev1.ResourceRequirements{"db": {Requests: quantities("cpu", "2"), Limits: quantities("memory", "4Gi")}}, ""},
		"nothing that is only written otherwise": {nil, func(p *corev1.PodTemplateSpec) {
			db(p).Resources.Requests["cpu"], db(p).Resources.Requests["memory"] = resource.MustParse("1000m"), resource.MustParse("1024Mi")
		}, nil, ""},
		"what is requested because it is a limit": {
			nil, func(p *corev1.PodTemplateSpec) { p.Spec.Containers[1].Resources = limitedTo("memory", "2Gi") },
			map[string]corev1.ResourceRequirements{"log": {Requests: quantities("memory", "2Gi"), Limits: quantities("memory", "2Gi")}}, ""},
		"nothing where what a pod has anyhow is written down": {
			nil, func(p *corev1.PodTemplateSpec) { p.Spec.Containers[1].Resources.Requests = quantities("memory", "1Gi") }, nil, ""},
		"a sidecar": {nil, func(p *corev1.PodTemplateSpec) { p.Spec.InitContainers[1].Resources = requesting("cpu", "2") },
			map[string]corev1.ResourceRequirements{"proxy": requesting("cpu", "2")}, ""},
		"not an init container that has ended": {
			nil, func(p *corev1.PodTemplateSpec) { p.Spec.InitContainers[0].Resources = requesting("cpu", "2") },
			nil, "spec.initContainers[0].resources.requests differs"},
		"not what was not there": {nil, func(p *corev1.PodTemplateSpec) { db(p).Resources.Limits["cpu"] = resource.MustParse("2") },
			nil, "spec.containers[0].resources.limits differs"},
		"not what is taken away": {nil, func(p *corev1.PodTemplateSpec) { delete(db(p).Resources.Requests, "cpu") },
			nil, "spec.containers[0].resources.requests differs"},
		"not other resources": {nil, func(p *corev1.PodTemplateSpec) {
			db(p).Resources.Requests["ephemeral-storage"] = resource.MustParse("2Gi")
		},
			nil, "spec.containers[0].resources.requests differs"},
		"not how a container is resized": {nil, func(p *corev1.PodTemplateSpec) {
			db(p).ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: corev1.RestartContainer}}
		}, nil, "spec.containers[0].resizePolicy differs"},
		"not the class of the pod": {func(p *corev1.PodTemplateSpec) {
			for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
				for i := range containers {
					containers[i].Resources = limitedTo("cpu", "1", "memory", "1Gi")
				}
			}
		}, func(p *corev1.PodTemplateSpec) { db(p).Resources.Requests = quantities("cpu", "500m") },
			map[string]corev1.ResourceRequirements{"db": requesting("cpu", "500m")},
			"the QoS class of the pod would change from Guaranteed to Burstable"},
		"not what the variable of a container has": {func(p *corev1.PodTemplateSpec) {
			db(p).Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: reads("", "limits.cpu")}},
				{Name: "B", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: reads("", "requests.cpu")}}}
		}, func(p *corev1.PodTemplateSpec) { db(p).Resources.Requests["cpu"] = resource.MustParse("2") },
			map[string]corev1.ResourceRequirements{"db": requesting("cpu", "2")},
			"spec.containers[0].env[1] reads requests.cpu of container db, which differs"},
		"not what the variable of another container has": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: reads("db", "limits.memory")}}}
		}, func(p *corev1.PodTemplateSpec) { db(p).Resources.Limits["memory"] = resource.MustParse("3Gi") },
			map[string]corev1.ResourceRequirements{"db": limitedTo("memory", "3Gi")},
			"spec.containers[1].env[0] reads limits.memory of container db, which differs"},
		"not what a volume shows": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Volumes = []corev1.Volume{{Name: "a"},
				{Name: "b", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{}, {
					DownwardAPI: &corev1.DownwardAPIProjection{
						Items: []corev1.DownwardAPIVolumeFile{{Path: "labels"}, {Path: "cpu", ResourceFieldRef: reads("db", "requests.cpu")}}}}}}}}}
		}, func(p *corev1.PodTemplateSpec) { db(p).Resources.Requests["cpu"] = resource.MustParse("2") },
			map[string]corev1.ResourceRequirements{"db": requesting("cpu", "2")},
			"spec.volumes[1] shows requests.cpu of container db, which differs"},
		"not where the pod as a whole has resources": {func(p *corev1.PodTemplateSpec) { p.Spec.Resources = new(requesting("cpu", "4")) },
			func(p *corev1.PodTemplateSpec) { db(p).Resources.Requests["cpu"] = resource.MustParse("2") }, nil,
			"spec.containers[0].resources.requests differs"},
	} {
		t.Run(sentence, func(t *testing.T) {
			from := sizedTemplate()
			if test.also != nil {
				test.also(from)
			}
			to := from.DeepCopy()
			test.change(to)
			before, after := from.DeepCopy(), to.DeepCopy()
			if got := ChangeInPlace(from, to, true); !equality.Semantic.DeepEqual(got.Resources, test.want) || got.Prevented != test.prevented ||
				got.Disturbs() != (len(test.want) > 0) {
				t.Errorf("got %+v, want the resources %v, prevented by %q", got, test.want, test.prevented)
			}
			if !equality.Semantic.DeepEqual(from, before) || !equality.Semantic.DeepEqual(to, after) {
				t.Errorf("the templates have become %+v and %+v, want them as they were", from, to)
			}
			if got := ChangeInPlace(from, to, false); len(got.Resources) > 0 {
				t.Errorf("where the host resizes nothing, got %+v, want no resources", got)
			}
		})
	}
}

// TestWhichResizesRestart says of which resizes a container is restarted: that is the container's to
// say, for each resource.
func TestWhichResizesRestart(t *testing.T) {
	restarting := func(name corev1.ResourceName) []corev1.ContainerResizePolicy {
		return []corev1.ContainerResizePolicy{{ResourceName: name, RestartPolicy: corev1.RestartContainer}}
	}
	for sentence, test := range map[string]struct {
		policies []corev1.ContainerResizePolicy
		change   func(*corev1.Container)
		want     bool
	}{
		"other memory, for which it asks to be restarted": {
			restarting("memory"), func(c *corev1.Container) { c.Resources.Limits["memory"] = resource.MustParse("3Gi") }, true},
		"another request of that": {
			restarting("memory"), func(c *corev1.Container) { c.Resources.Requests["memory"] = resource.MustParse("2Gi") }, true},
		"other cpu, which needs no restart": {
			restarting("memory"), func(c *corev1.Container) { c.Resources.Requests["cpu"] = resource.MustParse("2") }, false},
		"other memory, where nothing is said": {
			nil, func(c *corev1.Container) { c.Resources.Limits["memory"] = resource.MustParse("3Gi") }, false},
		"other memory, for which it asks not to be": {[]corev1.ContainerResizePolicy{{ResourceName: "memory", RestartPolicy: corev1.NotRequired}},
			func(c *corev1.Container) { c.Resources.Limits["memory"] = resource.MustParse("3Gi") }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			from := sizedTemplate()
			from.Spec.Containers[0].ResizePolicy = test.policies
			to := from.DeepCopy()
			test.change(&to.Spec.Containers[0])
			if got := ChangeInPlace(from, to, true); got.Prevented != "" || len(got.Resources) == 0 || got.ResizeRestarts != test.want ||
				got.Restarts() != test.want {
				t.Errorf("got %+v, want a resize that restarts the container: %t", got, test.want)
			}
		})
	}
}
