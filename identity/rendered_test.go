// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "statefulset.dev/api/apps/v1"
)

// rendered is a set whose templates name their member, and whose member 1 has a value of its own.
func rendered() *v1.StatefulSet {
	set := testSet()
	set.Spec.Replicas = new(int32(3))
	set.Spec.Identity = &v1.MemberIdentity{Values: map[string]string{"SIZE": "small"},
		Transforms: []v1.Transform{{Path: "/spec/schedulerName", Expression: "SIZE + string(ORDINAL)"}}}
	set.Spec.Template.Annotations = map[string]string{"id": "$(IDENTITY)"}
	set.Spec.VolumeClaimTemplates[0].Annotations = map[string]string{"id": "$(IDENTITY) is $(SIZE)"}
	set.Spec.Overrides = []v1.MemberOverride{{Name: "big", Ordinals: []v1.OrdinalRange{{First: 1}}, Values: map[string]string{"SIZE": "big"}}}
	return set
}

func TestAMemberIsRendered(t *testing.T) {
	set := rendered()
	before := set.DeepCopy()
	overrides := OverridesOf(set)
	for ordinal, want := range []string{"web-0 small0 web-0 is small", "web-1 big1 web-1 is big"} {
		pod, wrong := overrides.PodMaker().Pod(SourceOf(set), "web-a", ordinal)
		if wrong != nil {
			t.Fatal(wrong)
		}
		claim, wrong := overrides.Claim(0, ordinal)
		if wrong != nil {
			t.Fatal(wrong)
		}
		if got := strings.Join([]string{pod.Annotations["id"], pod.Spec.SchedulerName, claim.Annotations["id"]}, " "); got != want {
			t.Errorf("member %d is made as %q, want %q", ordinal, got, want)
		}
		if pod.Spec.Hostname != PodName("web", ordinal) || pod.Labels["app"] != "nginx" || !MountsClaims(set, ordinal, pod) {
			t.Errorf("member %d is made as %+v, want what belongs to its identity", ordinal, pod)
		}
	}
	if overrides.Hash(1) == "" || overrides.Hash(1) == OverridesOf(testSet()).Hash(1) {
		t.Errorf("the pod of a member with a value of its own notes %q, want that it does", overrides.Hash(1))
	}
	if plain, wrong := overrides.Rendered(Source{Template: &set.Spec.Template}, 0); wrong != nil || plain != &set.Spec.Template {
		t.Errorf("at a revision without identity: got %p, %v, want the template as it is, %p", plain, wrong, &set.Spec.Template)
	}
	if got, wrong := overrides.RenderedClaimTemplate(1, 0); wrong != nil || got != &set.Spec.VolumeClaimTemplates[1] {
		t.Errorf("a claim template that names nothing: got %p, %v, want it as it is, %p", got, wrong, &set.Spec.VolumeClaimTemplates[1])
	}
	if !equality.Semantic.DeepEqual(set, before) {
		t.Errorf("rendering changed the set to\n%v\nfrom\n%v", set, before)
	}
}

func TestARevisionRecordsWhatItsTemplateIsRenderedWith(t *testing.T) {
	set := rendered()
	got, err := Recorded(RevisionData(SourceOf(set)))
	if err != nil || !equality.Semantic.DeepEqual(got, SourceOf(set)) {
		t.Errorf("got back %+v, %v, want %+v", got, err, SourceOf(set))
	}
	template := corev1.PodTemplateSpec{}
	const of = `{"spec":{"template":{"$patch":"replace","metadata":{},"spec":{"containers":null}}}}`
	if got := string(RevisionData(Source{Template: &template})); got != of {
		t.Errorf("without identity: got %s, want %s", got, of)
	}
	const with = `{"spec":{"identity":{"$patch":"replace"},"template":{"$patch":"replace","metadata":{},"spec":{"containers":null}}}}`
	if got := string(RevisionData(Source{Template: &template, Identity: &v1.MemberIdentity{}})); got != with {
		t.Errorf("with one that is empty: got %s, want %s", got, with)
	}
}

func TestTheFirstNameInTemplatesIsFound(t *testing.T) {
	set := rendered()
	if got, want := OverridesOf(set).FirstName(),
		`spec.template.metadata.annotations[id]: Invalid value: "$(IDENTITY)": names $(IDENTITY)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	set.Spec.Template.Annotations = nil
	if got, want := OverridesOf(set).FirstName(),
		`spec.volumeClaimTemplates[0].metadata.annotations[id]: Invalid value: "$(IDENTITY) is $(SIZE)": names $(IDENTITY)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	set.Spec.Identity = nil
	if got := OverridesOf(set).FirstName(); got != "" {
		t.Errorf("of a set that renders nothing: got %q, want nothing", got)
	}
}
