// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// giving is a Service of each member with outputs, of which the even words are names and the odd ones
// expressions.
func giving(words ...string) v1.ObjectTemplate {
	t := objectTemplate("ext", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-ext"},"spec":{}}`)
	for i := 0; i < len(words); i += 2 {
		t.Outputs = append(t.Outputs, v1.ObjectOutput{Name: words[i], Expression: words[i+1]})
	}
	return t
}

func TestOutputs(t *testing.T) {
	const address = "object.status.loadBalancer.ingress[0].ip"
	secret, other := giving("A", "object.type"), giving("ADDRESS", address)
	secret.Object.Raw = []byte(strings.Replace(string(secret.Object.Raw), `"Service","metadata":{"name":"$(IDENTITY)-ext"},"spec":{}`,
		`"Secret","metadata":{"name":"$(IDENTITY)-ext"}`, 1))
	other.Name, other.Object.Raw = "other", []byte(strings.Replace(string(other.Object.Raw), "-ext", "-other", 1))
	uses := giving()
	uses.Name, uses.Object.Raw = "uses",
		[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-uses"},"data":{"a":"$(ADDRESS)"}}`)
	computes := uses
	computes.Object.Raw = []byte(strings.Replace(string(uses.Object.Raw), "$(ADDRESS)", "", 1))
	computes.Transforms = []v1.Transform{{Path: "/data/a", Expression: "ADDRESS"}}
	many := giving()
	for name := range strings.SplitSeq("A B C D", " ") {
		many.Outputs = append(many.Outputs, v1.ObjectOutput{Name: name, Expression: address})
	}
	more := giving("E", address, "F", address, "G", address, "H", address, "I", address)
	more.Name, more.Object.Raw = "more", other.Object.Raw
	const output = "is an output of an object; use it in env, args or command of the pod template"
	one := func(templates ...v1.ObjectTemplate) []v1.ObjectTemplate { return templates }
	for sentence, test := range map[string]struct {
		templates []v1.ObjectTemplate
		change    func(*v1.StatefulSetSpec)
		want      []string
	}{
		"that pods name are accepted": {
			templates: one(giving("ADDRESS", address, "IP_2", "object.?spec.?clusterIP.orValue('')")), change: func(s *v1.StatefulSetSpec) {
				s.Identity.Env = []string{"IP_2"}
				s.Template.Spec.Containers[0].Args = []string{"--at=$(ADDRESS)"}
			}},
		"of lists are accepted": {
			templates: one(giving("ADDRESS", "object.status.addresses.filter(a, a.type == 'IPAddress')[0].value"))},
		"with the name of a parameter": {
			templates: one(giving("SET", address)), want: []string{`spec.objectTemplates[0].outputs[0].name: Invalid value: "SET": is the name of a parameter`}},
		"with the name of a value": {templates: one(giving("SIZE", address)),
			want: []string{`spec.objectTemplates[0].outputs[0].name: Invalid value: "SIZE": is the name of a parameter`}},
		"with a name that is none": {
			templates: one(giving("Address_", address)),
			want: []string{
				`spec.objectTemplates[0].outputs[0].name: Invalid value: "Address_": must have at most 40 upper-case letters, digits and underscores, begin with a letter, and not end with an underscore`}},
		"with a name that ends badly": {templates: one(giving("ADDRESS_", address)),
			want: []string{`spec.objectTemplates[0].outputs[0].name: Invalid value: "ADDRESS_": must have at most 40`}},
		"with one name in two templates": {templates: one(giving("ADDRESS", address), other),
			want: []string{`spec.objectTemplates[1].outputs[0].name: Duplicate value: "ADDRESS"`}},
		"of Secrets": {
			templates: one(secret), want: []string{"spec.objectTemplates[0].outputs: Forbidden: not allowed for Secrets"}},
		"that are too many in a set": {
			templates: one(many, more), want: []string{"spec.objectTemplates: Too many: 9: must have at most 8 items"}},
		"with an expression that is none": {templates: one(giving("ADDRESS", "object.")),
			want: []string{`spec.objectTemplates[0].outputs[0].expression: Invalid value: "object.": 1:8: Syntax error`}},
		"of what there is not": {templates: one(giving("ADDRESS", "SET")),
			want: []string{`spec.objectTemplates[0].outputs[0].expression: Invalid value: "SET": 1:1: undeclared reference to 'SET'`}},
		"that are numbers": {templates: one(giving("ADDRESS", "3 - 2")), want: []string{
			`spec.objectTemplates[0].outputs[0].expression: Invalid value: "3 - 2": gives int, but must give a string; use string(...) to convert a number`}},
		"that are too long": {templates: one(giving("ADDRESS", "'"+strings.Repeat("x", 1024)+"'")),
			want: []string{"spec.objectTemplates[0].outputs[0].expression: Invalid value"}},
		"that objects name": {templates: one(giving("ADDRESS", address), uses),
			want: []string{`spec.objectTemplates[1].object.data.a: Invalid value: "$(ADDRESS)": for ordinal 0: ` + output}},
		"that objects compute with": {templates: one(giving("ADDRESS", address), computes),
			want: []string{`spec.objectTemplates[1].transforms[0].expression: Invalid value: "ADDRESS": ADDRESS ` + output}},
		"where nothing may change": {templates: one(giving("ADDRESS", address)), change: func(s *v1.StatefulSetSpec) {
			s.Template.Spec.NodeSelector = map[string]string{"n": "$(ADDRESS)"}
		}, want: []string{`spec.template.spec.nodeSelector[n]: Invalid value: "$(ADDRESS)": for ordinal 0: ` + output}},
		"that the identity computes with": {templates: one(giving("ADDRESS", address)), change: func(s *v1.StatefulSetSpec) {
			s.Identity.Transforms = []v1.Transform{{Path: "/metadata/annotations/a", Expression: "ADDRESS"}}
		}, want: []string{`spec.identity.transforms[0].expression: Invalid value: "ADDRESS": ADDRESS ` + output}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := func() *v1.StatefulSet {
				return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
					s.ObjectTemplates, s.Identity = test.templates, &v1.MemberIdentity{Values: map[string]string{"SIZE": "1"}}
					if test.change != nil {
						test.change(s)
					}
				}))
			}
			verdict{want: test.want}.check(t, onUpdate(t, set()))
			verdict{want: test.want}.check(t, onCreate(t, set()))
		})
	}
}

// TestOutputsAreRemovedWhenNoPodNamesThem has a set whose pods name an output that goes.
func TestOutputsAreRemovedWhenNoPodNamesThem(t *testing.T) {
	for sentence, test := range map[string]struct {
		old, change func(*v1.StatefulSet)
		want        string
	}{
		"while the template names it": {
			want: `output "ADDRESS" is removed, but the stored pod template names it; remove an output only after the end of an update after which no pod names it`},
		"with the template that names it": {change: func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Args = nil },
			want: `output "ADDRESS" is removed, but the stored pod template names it`},
		"while an update goes on from one that names it": {old: func(s *v1.StatefulSet) {
			s.Spec.Template.Spec.Containers[0].Args, s.Status.UpdateRevision = nil, "web-2"
		}, want: `output "ADDRESS" is removed, but the revision from which the current update started may name it`},
		"before the controller has seen that nothing names it": {
			old:  func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Args, s.Generation = nil, 7 },
			want: `output "ADDRESS" is removed, but the revision from which the current update started may name it`},
		"when nothing has named it": {old: func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Args = nil }},
		"when there are no members": {old: func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(0)) }},
		"when another template gives it": {change: func(s *v1.StatefulSet) {
			s.Spec.ObjectTemplates = []v1.ObjectTemplate{giving("ADDRESS", "object.kind")}
		}},
		"when members were never told it": {old: func(s *v1.StatefulSet) { s.Spec.Identity = nil }},
	} {
		t.Run(sentence, func(t *testing.T) {
			old := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
				s.ObjectTemplates, s.Identity, s.Replicas = []v1.ObjectTemplate{giving("ADDRESS", "object.spec.clusterIP")}, &v1.MemberIdentity{},
					new(int32(2))
				s.Template.Spec.Containers[0].Args = []string{"--at=$(ADDRESS)"}
			}))
			old.Status.CurrentRevision, old.Status.UpdateRevision, old.Status.ObservedGeneration = "web-1", "web-1", old.Generation
			if test.old != nil {
				test.old(old)
			}
			set := old.DeepCopy()
			set.Spec.ObjectTemplates = nil
			if test.change != nil {
				test.change(set)
			}
			var want []string
			if test.want != "" {
				want = []string{"spec.objectTemplates: Forbidden: " + test.want}
			}
			var got []string
			for _, err := range ValidateUpdate(nil, set, old) {
				got = append(got, err.Error())
			}
			verdict{want: want}.check(t, got)
		})
	}
}
