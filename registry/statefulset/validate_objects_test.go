// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// objectTemplate is one with a manifest, in JSON.
func objectTemplate(name, manifest string) v1.ObjectTemplate {
	return v1.ObjectTemplate{Name: name, Object: runtime.RawExtension{Raw: []byte(manifest)}}
}

func forSet(t v1.ObjectTemplate) v1.ObjectTemplate {
	t.Scope = v1.SetObjectScope
	return t
}

func TestObjectTemplates(t *testing.T) {
	const good = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-x"},"spec":{}}`
	named := func(name string) string { return strings.Replace(good, "$(IDENTITY)-x", name, 1) }
	of := func(apiVersion, kind string) string {
		return strings.NewReplacer(`"v1"`, `"`+apiVersion+`"`, "Service", kind).Replace(good)
	}
	with := func(metadata string) string { return strings.Replace(good, `"name":`, metadata+`,"name":`, 1) }
	many := make([]v1.ObjectTemplate, 17)
	for i := range many {
		many[i] = objectTemplate("t"+string(rune('a'+i)), named("$(IDENTITY)-"+string(rune('a'+i))))
	}
	big, _ := json.Marshal(strings.Repeat("x", 97<<10))
	transformed := func(path, expression string) v1.ObjectTemplate {
		o := objectTemplate("peers", good)
		o.Transforms = []v1.Transform{{Path: path, Expression: expression}}
		return o
	}
	secretWith := func(path, expression string) v1.ObjectTemplate {
		o := transformed(path, expression)
		o.Object.Raw = []byte(strings.Replace(of("v1", "Secret"), `"spec":{}`, `"type":"Opaque"`, 1))
		return o
	}
	for sentence, test := range map[string]struct {
		templates []v1.ObjectTemplate
		want      []string
	}{
		"of members and of the set are accepted": {templates: []v1.ObjectTemplate{
			objectTemplate("peers", good), forSet(objectTemplate("all", named("$(SET)-all")))}},
		"compute what changes while pods run": {templates: []v1.ObjectTemplate{transformed("/spec/x", "REPLICAS / 2 + ORDINAL")}},
		"of which members could share one": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", named("x-$(ORDINAL)"))},
			want: []string{
				`spec.objectTemplates[0].object.metadata.name: Invalid value: "x-$(ORDINAL)": must contain $(IDENTITY); otherwise members, or sets, could share one object`}},
		"with an identity that is quoted": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", named("x-$$(IDENTITY)"))},
			want: []string{
				`spec.objectTemplates[0].object.metadata.name: Invalid value: "x-$$(IDENTITY)": must contain $(IDENTITY); otherwise members, or sets, could share one object`}},
		"of the set that know a member": {templates: []v1.ObjectTemplate{forSet(objectTemplate("peers", good))}, want: []string{
			`spec.objectTemplates[0].object.metadata.name: Invalid value: "$(IDENTITY)-x": must not contain $(IDENTITY) or $(ORDINAL)`}},
		"that make one object twice": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", good), objectTemplate("more", good)},
			want: []string{`spec.objectTemplates[1].object: Duplicate value: "Service/web-0-x"`,
				`spec.objectTemplates[1].object: Forbidden: also rendered by "peers"`}},
		"of roles": {templates: []v1.ObjectTemplate{objectTemplate("peers",
			of("rbac.authorization.k8s.io/v1", "Role"))}, want: []string{"spec.objectTemplates[0].object.kind: Forbidden: never created by a set"}},
		"of pods": {templates: []v1.ObjectTemplate{objectTemplate("peers", of("v1", "Pod"))},
			want: []string{"spec.objectTemplates[0].object.kind: Forbidden: never created by a set"}},
		"of sets": {templates: []v1.ObjectTemplate{objectTemplate("peers",
			of("apps.statefulset.dev/v1", "StatefulSet"))}, want: []string{"spec.objectTemplates[0].object.kind: Forbidden: never created by a set"}},
		"of what is no kind": {templates: []v1.ObjectTemplate{objectTemplate("peers", of("v1", "$(SET)"))},
			want: []string{`spec.objectTemplates[0].object.kind: Invalid value: "$(SET)": must be the kind of a single object, not of a list`}},
		"of lists": {templates: []v1.ObjectTemplate{objectTemplate("peers", of("v1", "ServiceList"))},
			want: []string{`spec.objectTemplates[0].object.kind: Invalid value: "ServiceList": must be the kind of a single object, not of a list`}},
		"without a version": {templates: []v1.ObjectTemplate{
			objectTemplate("peers", of("", "Service"))}, want: []string{"spec.objectTemplates[0].object.apiVersion: Required value"}},
		"of another namespace": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", with(`"namespace":"kube-system"`))},
			want:      []string{"spec.objectTemplates[0].object.metadata.namespace: Forbidden: is set by the controller or the host cluster"}},
		"with owners": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", with(`"ownerReferences":[]`))},
			want:      []string{"spec.objectTemplates[0].object.metadata.ownerReferences: Forbidden: is set by the controller or the host cluster"}},
		"with a status": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", strings.Replace(good, `"spec"`, `"status"`, 1))},
			want:      []string{"spec.objectTemplates[0].object.status: Forbidden: is set by the host cluster"}},
		"with marks of another set": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", with(`"annotations":{"apps.statefulset.dev/owner":"a/b"}`))},
			want:      []string{"spec.objectTemplates[0].object.metadata.annotations[apps.statefulset.dev/owner]: Forbidden: is set by the controller"}},
		"that write marks by a transform": {
			templates: []v1.ObjectTemplate{transformed("/metadata/annotations/apps.statefulset.dev~1owner", "SET")}, want: []string{
				"spec.objectTemplates[0].transforms[0].path: Forbidden: /metadata/annotations/apps.statefulset.dev~1owner belongs to the set"}},
		"that write a name by a transform": {templates: []v1.ObjectTemplate{transformed("/metadata/name", "SET")},
			want: []string{"spec.objectTemplates[0].transforms[0].path: Forbidden: /metadata/name belongs to the set"}},
		"with an expression that is none": {templates: []v1.ObjectTemplate{transformed("/data/x", "1 + foo")},
			want: []string{`spec.objectTemplates[0].transforms[0].expression: Invalid value: "1 + foo": 1:5: undeclared reference to 'foo'`}},
		"that cannot be made for the last member": {
			templates: []v1.ObjectTemplate{transformed("/data/x", "[1, 2][ORDINAL]")}, want: []string{
				`spec.objectTemplates[0].transforms[0].expression: Invalid value: "[1, 2][ORDINAL]": for ordinal 2: 1:7: index out of bounds: 2`}},
		"of Secrets with what is secret": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", strings.Replace(of("v1", "Secret"), `"spec"`, `"stringData"`, 1))},
			want:      []string{"spec.objectTemplates[0].object.stringData: Forbidden: every user who can read the set could read it"}},
		"of Secrets with what is secret, transformed": {templates: []v1.ObjectTemplate{secretWith("/data/x", "SET")},
			want: []string{"spec.objectTemplates[0].transforms[0].path: Forbidden: every user who can read the set could read it"}},
		"of Secrets with what is secret, for a member that is not tried": {templates: []v1.ObjectTemplate{secretWith("/stringData",
			"{'a': SET}")}, want: []string{"spec.objectTemplates[0].transforms[0].path: Forbidden: every user who can read the set could read it"}},
		"of Secrets that become tokens when there are more members": {
			templates: []v1.ObjectTemplate{secretWith("/type", "REPLICAS > 3 ? 'kubernetes.io/service-account-token' : 'Opaque'")},
			want:      []string{"spec.objectTemplates[0].transforms[0].path: Forbidden: the type of a Secret must be the same for all members"}},
		"of Secrets with a type by member": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", strings.Replace(of("v1", "Secret"), `"spec":{}`, `"type":"$(IDENTITY)"`, 1))},
			want: []string{
				`spec.objectTemplates[0].object.type: Invalid value: "$(IDENTITY)": must be the same for all members, without parameters`}},
		"of Secrets that hold nothing secret": {templates: []v1.ObjectTemplate{secretWith("/metadata/annotations/a", "SET")}},
		"of tokens": {
			templates: []v1.ObjectTemplate{
				objectTemplate("peers", strings.Replace(of("v1", "Secret"), `"spec":{}`, `"type":"kubernetes.io/service-account-token"`, 1))},
			want: []string{"spec.objectTemplates[0].object.type: Forbidden: never created by a set"}},
		"of Jobs that go by themselves": {
			templates: []v1.ObjectTemplate{
				objectTemplate("peers", strings.Replace(of("batch/v1", "Job"), `"spec":{}`, `"spec":{"ttlSecondsAfterFinished":1}`, 1))},
			want: []string{"spec.objectTemplates[0].object.spec.ttlSecondsAfterFinished: Forbidden: the Job would be created and run again"}},
		"that are no object": {
			templates: []v1.ObjectTemplate{objectTemplate("peers", `[]`)}, want: []string{"spec.objectTemplates[0].object: Invalid value"}},
		"that are too many": {templates: many, want: []string{"spec.objectTemplates: Too many: 17: must have at most 16 items"}},
		"that are too long": {templates: []v1.ObjectTemplate{objectTemplate("peers", strings.Replace(good, `{}`, string(big), 1))},
			want: []string{"spec.objectTemplates: Too long: may not be more than 98304 bytes"}},
		"with words that there are not": {
			templates: []v1.ObjectTemplate{{Name: "p", Scope: "Pod", ExistingPolicy: "Adopt", Object: runtime.RawExtension{Raw: []byte(good)}}},
			want: []string{`spec.objectTemplates[0].existingPolicy: Unsupported value: "Adopt": supported values: "Use", "Refuse"`,
				`spec.objectTemplates[0].scope: Unsupported value: "Pod": supported values: "Member", "Set"`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := func() *v1.StatefulSet {
				return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.ObjectTemplates, s.Replicas = test.templates, new(int32(3)) }))
			}
			verdict{want: test.want}.check(t, onUpdate(t, set()))
			verdict{want: test.want}.check(t, onCreate(t, set()))
		})
	}
}
