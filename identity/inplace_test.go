// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "statefulset.dev/api/apps/v1"
)

// inPlaceTemplate has two containers, a sidecar, an init container that ends, and variables
// that read a label and an annotation.
func inPlaceTemplate() *corev1.PodTemplateSpec {
	reads := func(path string) corev1.EnvVar {
		return corev1.EnvVar{Name: "V", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	template := &corev1.PodTemplateSpec{}
	template.Labels = map[string]string{"app": "db", "tier": "gold"}
	template.Annotations = map[string]string{"note": "one", "zone": "a"}
	template.Spec.InitContainers = []corev1.Container{
		{Name: "setup", Image: "setup:1"},
		{Name: "proxy", Image: "proxy:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
	}
	template.Spec.Containers = []corev1.Container{
		{Name: "db", Image: "db:1", Env: []corev1.EnvVar{{Name: "A", Value: "b"}, reads("metadata.name"), reads("metadata.annotations['zone']")}},
		{Name: "log", Image: "log:1", Env: []corev1.EnvVar{reads("metadata.labels['tier']")}},
	}
	return template
}

func TestWhatCanBeChangedInPlace(t *testing.T) {
	value := func(text string) *string { return &text }
	for sentence, test := range map[string]struct {
		change func(*corev1.PodTemplateSpec)
		want   InPlaceChange
	}{
		"nothing, where nothing differs": {func(*corev1.PodTemplateSpec) {}, InPlaceChange{}},
		"the images of containers": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Image, p.Spec.Containers[1].Image = "db:2", "log:2"
		}, InPlaceChange{Images: map[string]string{"db": "db:2", "log": "log:2"}}},
		"the image of a sidecar": {func(p *corev1.PodTemplateSpec) { p.Spec.InitContainers[1].Image = "proxy:2" },
			InPlaceChange{Sidecars: map[string]string{"proxy": "proxy:2"}}},
		"not that of an init container that has ended": {func(p *corev1.PodTemplateSpec) { p.Spec.InitContainers[0].Image = "setup:2" },
			InPlaceChange{Prevented: "spec.initContainers[0].image differs"}},
		"labels that are added, changed and removed": {func(p *corev1.PodTemplateSpec) {
			p.Labels = map[string]string{"app": "other", "tier": "gold", "new": "yes"}
			p.Annotations = map[string]string{"zone": "a"}
		}, InPlaceChange{Labels: map[string]*string{"app": value("other"), "new": value("yes")}, Annotations: map[string]*string{"note": nil}}},
		"not a label that a variable reads": {func(p *corev1.PodTemplateSpec) { p.Labels["tier"] = "silver" },
			InPlaceChange{Labels: map[string]*string{"tier": value("silver")},
				Prevented: "spec.containers[1].env[0] reads metadata.labels['tier'], which differs"}},
		"not an annotation that a variable reads": {func(p *corev1.PodTemplateSpec) { delete(p.Annotations, "zone") },
			InPlaceChange{Annotations: map[string]*string{"zone": nil},
				Prevented: "spec.containers[0].env[2] reads metadata.annotations['zone'], which differs"}},
		"not what asks for a restart": {func(p *corev1.PodTemplateSpec) { p.Annotations[restartedAt] = "now" },
			InPlaceChange{Annotations: map[string]*string{restartedAt: value("now")},
				Prevented: "metadata.annotations[kubectl.kubernetes.io/restartedAt] requests a restart"}},
		"nothing of what pods have from elsewhere": {func(p *corev1.PodTemplateSpec) {
			p.Labels[RevisionLabel], p.Annotations[v1.InPlaceAnnotation] = "mine", "{}"
		}, InPlaceChange{}},
		"not the environment": {func(p *corev1.PodTemplateSpec) { p.Spec.Containers[0].Env[0].Value = "c" },
			InPlaceChange{Prevented: "spec.containers[0].env differs"}},
		"not the resources": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[1].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, InPlaceChange{Prevented: "spec.containers[1].resources.requests differs"}},
		"not the number of containers": {func(p *corev1.PodTemplateSpec) { p.Spec.Containers = p.Spec.Containers[:1] },
			InPlaceChange{Prevented: "spec.containers differs"}},
		"not their order, and no image is mistaken for that of another": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0], p.Spec.Containers[1] = p.Spec.Containers[1], p.Spec.Containers[0]
		}, InPlaceChange{Prevented: "spec.containers[0].name differs"}},
		"not an image that is taken away": {func(p *corev1.PodTemplateSpec) { p.Spec.Containers[0].Image = "" },
			InPlaceChange{Prevented: "spec.containers[0].image differs"}},
		"not what is deep inside": {func(p *corev1.PodTemplateSpec) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1))}
		}, InPlaceChange{Prevented: "spec.securityContext differs"}},
		"not the finalizers": {func(p *corev1.PodTemplateSpec) { p.Finalizers = []string{"a/b"} },
			InPlaceChange{Prevented: "metadata.finalizers differs"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			from, to := inPlaceTemplate(), inPlaceTemplate()
			test.change(to)
			before := to.DeepCopy()
			if got := ChangeInPlace(from, to, false); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if !reflect.DeepEqual(from, inPlaceTemplate()) || !reflect.DeepEqual(to, before) {
				t.Errorf("the templates have become %+v and %+v, want them as they were", from, to)
			}
		})
	}
}

func TestADifferenceIsNamedAsDeepAsItIs(t *testing.T) {
	from, to := inPlaceTemplate(), inPlaceTemplate()
	from.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1)), RunAsGroup: new(int64(1))}
	to.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1)), RunAsGroup: new(int64(2))}
	if got, want := ChangeInPlace(from, to, true).Prevented, "spec.securityContext.runAsGroup differs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzChangeInPlace: any two templates that can be decoded can be compared, a template needs
// no change to be itself, and what is changed and not prevented makes the one the other.
func FuzzChangeInPlace(f *testing.F) {
	plain, err := inPlaceTemplate().Marshal()
	if err != nil {
		f.Fatalf("encoding a seed: %v", err)
	}
	other := inPlaceTemplate()
	other.Spec.Containers[0].Image, other.Labels["app"] = "db:2", "x"
	updated, err := other.Marshal()
	if err != nil {
		f.Fatalf("encoding a seed: %v", err)
	}
	f.Add(plain, updated)
	f.Add(updated, []byte{})
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var from, to corev1.PodTemplateSpec
		if from.Unmarshal(one) != nil || to.Unmarshal(two) != nil {
			return
		}
		if none := ChangeInPlace(&from, &from, true); none.Prevented != "" || none.Disturbs() || len(none.Labels)+len(none.Annotations) > 0 {
			t.Errorf("a template changes into itself by %+v, want nothing", none)
		}
		change := ChangeInPlace(&from, &to, true)
		if change.Prevented != "" {
			return
		}
		for _, list := range []struct {
			from, to []corev1.Container
			images   map[string]string
		}{{from.Spec.Containers, to.Spec.Containers, change.Images}, {from.Spec.InitContainers, to.Spec.InitContainers, change.Sidecars}} {
			if len(list.from) != len(list.to) {
				t.Fatalf("%d containers become %d in place", len(list.from), len(list.to))
			}
			for i, container := range list.from {
				want := list.to[i].Image
				if image, changes := list.images[container.Name]; changes && image != want || !changes && container.Image != want {
					t.Errorf("container %q gets image %q of %v, want %q", container.Name, container.Image, list.images, want)
				}
			}
		}
	})
}
