// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// withOverride is a set with an override of the members 1 and 3 to 4.
func withOverride(change func(*v1.MemberOverride)) *v1.StatefulSet {
	set := testSet()
	set.Spec.Template.Spec.NodeSelector = map[string]string{"zone": "a", "disk": "hdd"}
	set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "a"}}
	set.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "prepare", Image: "prepare:1"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "log", Image: "log:1"}, {
		Name: "db", Image: "db:1",
		Env:       []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)"}},
		Resources: corev1.ResourceRequirements{Requests: amounts("cpu", "1", "memory", "1Gi"), Limits: amounts("memory", "2Gi")},
	}}
	set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = amounts("storage", "1Gi")
	override := v1.MemberOverride{Name: "big", Ordinals: []v1.OrdinalRange{{First: 3, Last: ptr.To[int32](4)}, {First: 1}}}
	change(&override)
	set.Spec.Overrides = []v1.MemberOverride{
		{Name: "other", Ordinals: []v1.OrdinalRange{{First: 2}}, Labels: map[string]string{"other": "yes"}}, override}
	return set
}

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func TestAPodIsMadeWithTheOverrideOfItsMember(t *testing.T) {
	for sentence, test := range map[string]struct {
		override func(*v1.MemberOverride)
		got      func(*corev1.Pod) any
		want     any
	}{
		"labels and annotations are added": {
			func(o *v1.MemberOverride) {
				o.Labels, o.Annotations = map[string]string{"size": "big"}, map[string]string{"note": "y", "more": "z"}
			},
			func(pod *corev1.Pod) any {
				return []string{pod.Labels["size"], pod.Labels["app"], pod.Annotations["note"], pod.Annotations["more"]}
			},
			[]string{"big", "nginx", "y", "z"},
		},
		"no label takes the place of what says which member a pod is": {
			func(o *v1.MemberOverride) {
				o.Labels = map[string]string{RevisionLabel: "x", "apps.kubernetes.io/pod-index": "x"}
			},
			func(pod *corev1.Pod) any {
				return []string{pod.Labels[RevisionLabel], pod.Labels["apps.kubernetes.io/pod-index"]}
			},
			[]string{"web-1", "3"},
		},
		"keys of the node selector are replaced": {
			func(o *v1.MemberOverride) { o.NodeSelector = map[string]string{"disk": "nvme"} },
			func(pod *corev1.Pod) any { return pod.Spec.NodeSelector },
			map[string]string{"zone": "a", "disk": "nvme"},
		},
		"tolerations are added": {
			func(o *v1.MemberOverride) { o.Tolerations = []corev1.Toleration{{Key: "b"}} },
			func(pod *corev1.Pod) any { return pod.Spec.Tolerations },
			[]corev1.Toleration{{Key: "a"}, {Key: "b"}},
		},
		"images are replaced, of init containers too, and others are not": {
			func(o *v1.MemberOverride) {
				o.Containers = []v1.ContainerOverride{
					{Name: "db", Image: "db:2"}, {Name: "prepare", Image: "prepare:2"}, {Name: "gone", Image: "gone:1"}}
			},
			func(pod *corev1.Pod) any {
				return []string{pod.Spec.Containers[0].Image, pod.Spec.Containers[1].Image, pod.Spec.InitContainers[0].Image}
			},
			[]string{"log:1", "db:2", "prepare:2"},
		},
		"resources are replaced by their names": {
			func(o *v1.MemberOverride) {
				o.Containers = []v1.ContainerOverride{{
					Name: "db", Resources: &corev1.ResourceRequirements{Requests: amounts("memory", "4Gi"), Limits: amounts("memory", "4Gi", "cpu", "2")}}}
			},
			func(pod *corev1.Pod) any { return pod.Spec.Containers[1].Resources },
			corev1.ResourceRequirements{Requests: amounts("cpu", "1", "memory", "4Gi"), Limits: amounts("memory", "4Gi", "cpu", "2")},
		},
		"variables are replaced where they stand, and added": {
			func(o *v1.MemberOverride) {
				o.Containers = []v1.ContainerOverride{{Name: "db", Env: []corev1.EnvVar{{Name: "C", Value: "3"}, {Name: "A", Value: "2"}}}}
			},
			func(pod *corev1.Pod) any { return pod.Spec.Containers[1].Env },
			[]corev1.EnvVar{{Name: "A", Value: "2"}, {Name: "B", Value: "$(A)"}, {Name: "C", Value: "3"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := withOverride(test.override)
			before := set.DeepCopy()
			pod := Pod(set, &set.Spec.Template, "web-1", 3)
			if got := test.got(pod); !equality.Semantic.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			overrides := OverridesOf(set)
			if note := pod.Annotations[v1.OverrideAnnotation]; note == "" || note != overrides.Hash(3) || note != overrides.Hash(1) {
				t.Errorf("the pod has the note %q, want %q", note, overrides.Hash(3))
			}
			plain := set.DeepCopy()
			plain.Spec.Overrides = nil
			want := Pod(plain, &plain.Spec.Template, "web-1", 5)
			if got, err := overrides.Pod(SourceOf(set), "web-1", 5); err != nil || !equality.Semantic.DeepEqual(got, want) {
				t.Errorf("the pod of a member without an override is\n%v, %v, want\n%v", got, err, want)
			}
			if !equality.Semantic.DeepEqual(set, before) {
				t.Errorf("building the pod changed the set to\n%v\nfrom\n%v", set, before)
			}
		})
	}
}

func TestATemplateCannotSayThatItsPodsHaveAnOverride(t *testing.T) {
	set := testSet()
	set.Spec.Template.Annotations[v1.OverrideAnnotation] = "1-copied"
	pod := Pod(set, &set.Spec.Template, "web-1", 0)
	if got, has := pod.Annotations[v1.OverrideAnnotation]; has || pod.Annotations["note"] != "x" ||
		set.Spec.Template.Annotations[v1.OverrideAnnotation] == "" {
		t.Errorf("the pod has the note %q among %v, want none, and the template as it was", got, pod.Annotations)
	}
}

func TestAClaimIsMadeWithTheOverrideOfItsMember(t *testing.T) {
	set := withOverride(func(o *v1.MemberOverride) {
		o.VolumeClaims = []v1.VolumeClaimOverride{
			{Name: "data", Storage: new(resource.MustParse("5Gi")), StorageClassName: new("fast"), VolumeAttributesClassName: new("gold")}}
	})
	before := set.DeepCopy()
	for ordinal, want := range map[int]string{0: "1Gi", 1: "5Gi", 2: "1Gi", 4: "5Gi"} {
		claim := Claims(set, ordinal)[0]
		if got := claim.Spec.Resources.Requests.Storage().String(); got != want || (claim.Spec.StorageClassName != nil) != (want == "5Gi") ||
			(claim.Spec.VolumeAttributesClassName != nil) != (want == "5Gi") {
			t.Errorf("claim %s has %s of the classes %v and %v, want %s, and other classes only with an override", claim.Name, got,
				claim.Spec.StorageClassName, claim.Spec.VolumeAttributesClassName, want)
		}
	}
	if !equality.Semantic.DeepEqual(set, before) {
		t.Errorf("building claims changed the set to\n%v\nfrom\n%v", set, before)
	}
	if hash := OverridesOf(set).Hash(1); hash != "" {
		t.Errorf("an override that says nothing about pods has the hash %q, want none", hash)
	}
}

// TestTheHashOfAnOverrideStays is about members that would all be recreated by another release.
// A hash that changes here needs another hashVersion, and a release that knows both.
func TestTheHashOfAnOverrideStays(t *testing.T) {
	const full = `{"name": "big", "ordinals": [{"first": 0}], "labels": {"b": "2", "a": "1"}, "annotations": {"n": "x"}, "nodeSelector": {"disk": "nvme"},
		"tolerations": [{"key": "disk", "operator": "Exists"}],
		"containers": [{"name": "db", "image": "db:2", "resources": {"requests": {"memory": "1024Mi"}}, "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}]},
			{"name": "aux", "image": "aux:1"}], "volumeClaims": [{"name": "data", "storage": "1Gi"}]}`
	const fullHash = "1-137fc5767571f62b"
	for sentence, test := range map[string]struct{ override, want string }{
		"all that it can say": {full, fullHash},
		"the same in other words": {`{"name": "huge", "ordinals": [{"first": 4}], "labels": {"a": "1", "b": "2"}, "annotations": {"n": "x"}, "nodeSelector": {"disk": "nvme"},
			"tolerations": [{"key": "disk", "operator": "Exists"}],
			"containers": [{"name": "aux", "image": "aux:1"}, {"name": "empty", "resources": {}}, {"name": "db", "image": "db:2", "resources": {"requests": {"memory": "1Gi"}}, "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}]}]}`, fullHash},
		"a node selector":      {`{"name": "big", "ordinals": [{"first": 0}], "nodeSelector": {"disk": "nvme"}}`, "1-1c3f8974bbc4bbc0"},
		"only claims":          {`{"name": "big", "ordinals": [{"first": 0}], "volumeClaims": [{"name": "data", "storage": "1Gi"}]}`, ""},
		"a container as it is": {`{"name": "big", "ordinals": [{"first": 0}], "containers": [{"name": "db"}]}`, ""},
		"nothing":              {`{"name": "big", "ordinals": [{"first": 0}]}`, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			var override v1.MemberOverride
			if err := json.Unmarshal([]byte(test.override), &override); err != nil {
				t.Fatal(err)
			}
			wire, err := override.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			var stored v1.MemberOverride
			if err := stored.Unmarshal(wire); err != nil {
				t.Fatal(err)
			}
			for where, o := range map[string]*v1.MemberOverride{"as it was written": &override, "as it was stored": &stored} {
				if got := hashOf(o); got != test.want {
					t.Errorf("%s: got %q, want %q", where, got, test.want)
				}
			}
		})
	}
}

func TestWhatIsMadeOfAnOverrideIsMadeOnce(t *testing.T) {
	set := withOverride(func(o *v1.MemberOverride) {
		o.Containers = []v1.ContainerOverride{{Name: "db", Image: "db:2"}}
		o.VolumeClaims = []v1.VolumeClaimOverride{{Name: "data", Storage: new(resource.MustParse("5Gi"))}}
	})
	overrides := OverridesOf(set)
	pods := overrides.PodMaker()
	template := func(ordinal int) *corev1.PodTemplateSpec {
		made, _ := pods.Template(SourceOf(set), ordinal)
		return made
	}
	if a, b := template(3), template(4); a != b {
		t.Errorf("the templates of two members of an override are %p and %p, want one", a, b)
	}
	if a, b := overrides.ClaimTemplate(0, 3), overrides.ClaimTemplate(0, 1); a != b {
		t.Errorf("the claim templates of two members of an override are %p and %p, want one", a, b)
	}
	a, _ := pods.Pod(SourceOf(set), "web-1", 3)
	if b, _ := overrides.Pod(SourceOf(set), "web-1", 3); !equality.Semantic.DeepEqual(a, b) {
		t.Errorf("the pod of a member is %v if it is one of many, and else %v", a, b)
	}
	if got := template(5); got != &set.Spec.Template {
		t.Errorf("the template of a member without an override is %p, want that of the set, %p", got, &set.Spec.Template)
	}
}
