// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestParsePodName(t *testing.T) {
	for name, c := range map[string]struct {
		pod     string
		set     string
		ordinal int
		ok      bool
	}{
		"a member":                       {"web-0", "web", 0, true},
		"a set with dashes and digits":   {"my-2-web-17", "my-2-web", 17, true},
		"the largest ordinal":            {"web-2147483647", "web", 2147483647, true},
		"an ordinal beyond 31 bits":      {pod: "web-2147483648"},
		"an ordinal with a leading zero": {pod: "web-01"},
		"an ordinal with a sign":         {pod: "web-+1"},
		"no ordinal":                     {pod: "web"},
		"nothing after the dash":         {pod: "web-"},
		"a pod of a Deployment":          {pod: "web-7d4b9c-x2x"},
	} {
		t.Run(name, func(t *testing.T) {
			set, ordinal, ok := ParsePodName(c.pod)
			if set != c.set || ordinal != c.ordinal || ok != c.ok {
				t.Errorf("ParsePodName(%q) = %q, %d, %t; want %q, %d, %t", c.pod, set, ordinal, ok, c.set, c.ordinal, c.ok)
			}
		})
	}
}

func TestParseClaimName(t *testing.T) {
	named := func(names ...string) (templates []corev1.PersistentVolumeClaim) {
		for _, name := range names {
			templates = append(templates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return templates
	}
	for name, c := range map[string]struct {
		claim, set string
		templates  []corev1.PersistentVolumeClaim
		template   string
		ordinal    int
		ok         bool
	}{
		"the claim of the only template":                     {"data-web-2", "web", named("data"), "data", 2, true},
		"the claim of the second template":                   {"log-web-0", "web", named("data", "log"), "log", 0, true},
		"a template whose name begins with another's":        {"data-a-web-1", "web", named("data", "data-a"), "data-a", 1, true},
		"a template whose name ends like the set's":          {"web-web-web-1", "web", named("web", "web-web"), "web-web", 1, true},
		"a set whose name begins like the rest of another's": {claim: "data-a-web-1", set: "web", templates: named("data")},
		"a claim of a set with a longer name":                {claim: "data-web-2", set: "b-web", templates: named("data")},
		"a name that lacks a dash":                           {claim: "dataweb-2", set: "web", templates: named("data")},
		"a template that the set does not have":              {claim: "log-web-2", set: "web", templates: named("data")},
		"a set without templates":                            {claim: "data-web-2", set: "web"},
		"an ordinal with a leading zero":                     {claim: "data-web-02", set: "web", templates: named("data")},
		"no ordinal":                                         {claim: "data-web", set: "web", templates: named("data")},
	} {
		t.Run(name, func(t *testing.T) {
			template, ordinal, ok := ParseClaimName(c.claim, c.set, c.templates)
			if template != c.template || ordinal != c.ordinal || ok != c.ok {
				t.Errorf("ParseClaimName(%q, %q) = %q, %d, %t; want %q, %d, %t", c.claim, c.set, template, ordinal, ok, c.template, c.ordinal, c.ok)
			}
		})
	}
}

func testSet() *v1.StatefulSet {
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u"},
		Spec: v1.StatefulSetSpec{
			ServiceName: "nginx",
			Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"app": "nginx"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      map[string]string{"app": "nginx", "apps.kubernetes.io/pod-index": "mine"},
					Annotations: map[string]string{"note": "x"},
					Finalizers:  []string{"example.test/f"},
				},
				Spec: corev1.PodSpec{
					Hostname: "ignored", Subdomain: "ignored",
					Volumes: []corev1.Volume{
						{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
						{Name: "scratch"},
					},
				},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{
				{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"app": "other", "tier": "db"}}},
				{ObjectMeta: metav1.ObjectMeta{Name: "log"}},
			},
		},
	}
}

func TestPod(t *testing.T) {
	set := testSet()
	before := set.DeepCopy()
	pod := Pod(set, &set.Spec.Template, "web-abc", 2)
	pod.Labels["app"] = "changed"
	pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{Name: "changed"})

	for what, pair := range map[string][2]string{
		"name":           {pod.Name, "web-2"},
		"generate name":  {pod.GenerateName, "web-"},
		"namespace":      {pod.Namespace, "shop"},
		"hostname":       {pod.Spec.Hostname, "web-2"},
		"subdomain":      {pod.Spec.Subdomain, "nginx"},
		"name label":     {pod.Labels["statefulset.kubernetes.io/pod-name"], "web-2"},
		"index label":    {pod.Labels["apps.kubernetes.io/pod-index"], "2"},
		"revision label": {pod.Labels["controller-revision-hash"], "web-abc"},
		"first volume":   {pod.Spec.Volumes[0].Name + " " + pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName, "data data-web-2"},
		"second volume":  {pod.Spec.Volumes[1].Name + " " + pod.Spec.Volumes[1].PersistentVolumeClaim.ClaimName, "log log-web-2"},
		"third volume":   {pod.Spec.Volumes[2].Name, "scratch"},
		"finalizer":      {pod.Finalizers[0], "example.test/f"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %q, want %q", what, pair[0], pair[1])
		}
	}
	if len(pod.Spec.Volumes) != 3 {
		t.Errorf("the pod has %d volumes, want 3: the claim takes the place of the template's volume", len(pod.Spec.Volumes))
	}
	if owner := metav1.GetControllerOf(pod); owner == nil || owner.UID != "u" || owner.APIVersion != "apps.statefulset.dev/v1" ||
		!*owner.BlockOwnerDeletion {
		t.Errorf("controller is %+v, want the set, blocking its deletion", owner)
	}
	if set.String() != before.String() {
		t.Errorf("building and changing the pod changed the set to\n%s\nfrom\n%s", set, before)
	}
	if !MountsClaims(set, 2, pod) || MountsClaims(set, 1, pod) {
		t.Errorf("MountsClaims says %t of member 2 and %t of member 1, want true and false", MountsClaims(set, 2, pod), MountsClaims(set, 1, pod))
	}
}

func TestClaims(t *testing.T) {
	set := testSet()
	claims := Claims(set, 1)
	for i, want := range []struct {
		name   string
		labels map[string]string
	}{
		{"data-web-1", map[string]string{"app": "nginx", "tier": "db"}},
		{"log-web-1", map[string]string{"app": "nginx"}},
	} {
		if claims[i].Name != want.name || claims[i].Namespace != "shop" || !maps.Equal(claims[i].Labels, want.labels) ||
			len(claims[i].OwnerReferences) > 0 {
			t.Errorf("claim %d is %s/%s with labels %v and owners %v, want shop/%s with %v and none", i,
				claims[i].Namespace, claims[i].Name, claims[i].Labels, claims[i].OwnerReferences, want.name, want.labels)
		}
	}
	if got := set.Spec.VolumeClaimTemplates[0].Labels["app"]; got != "other" {
		t.Errorf("building claims changed the template's label to %q", got)
	}
}

func TestMemberOrdinals(t *testing.T) {
	for name, want := range map[string][]int{
		"web-0-auth":                       {0},
		"web-12-tls":                       {1, 12},
		"auth-web-3":                       {3},
		"web-1-web-2":                      {1, 2},
		"web-web-4":                        {4},
		"web-2147483648":                   {2, 21, 214, 2147, 21474, 214748, 2147483, 21474836, 214748364},
		"web--1":                           nil,
		"web-":                             nil,
		"other-1":                          nil,
		"":                                 nil,
		"web-1" + strings.Repeat("a", 253): nil,
	} {
		if got := MemberOrdinals(name, "web"); !slices.Equal(got, want) {
			t.Errorf("members that %q may name: got %v, want %v", name, got, want)
		}
	}
}
