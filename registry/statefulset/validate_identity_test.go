// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func transforms(path, expression string) *v1.MemberIdentity {
	return &v1.MemberIdentity{Transforms: []v1.Transform{{Path: path, Expression: expression}}}
}

func TestIdentity(t *testing.T) {
	for sentence, test := range map[string]struct {
		identity *v1.MemberIdentity
		change   func(*v1.StatefulSetSpec)
		want     []string
	}{
		"with all that it can have is accepted": {
			identity: &v1.MemberIdentity{Env: []string{"DNS_NAME", "SIZE"}, Values: map[string]string{"SIZE": "small"},
				Transforms: []v1.Transform{{Path: "/spec/priority", Expression: "ORDINAL + size(SIZE)"}}}},
		"with nothing lets names be where the host would refuse them": {identity: &v1.MemberIdentity{}, change: func(s *v1.StatefulSetSpec) {
			s.Template.Spec.NodeSelector = map[string]string{"n": "node-$(ORDINAL)"}
		}},
		"with parameters that there are not": {identity: &v1.MemberIdentity{Env: []string{"HOST", "SET", "SET"}}, want: []string{
			`spec.identity.env[0]: Unsupported value: "HOST": supported values: "DNS_NAME", "IDENTITY", "NAMESPACE", "ORDINAL", "REPLICAS", "SERVICE", "SET"`,
			`spec.identity.env[2]: Duplicate value: "SET"`,
		}},
		"with the name of a service that is not named": {
			identity: &v1.MemberIdentity{Env: []string{"DNS_NAME"}}, change: func(s *v1.StatefulSetSpec) { s.ServiceName = "" },
			want: []string{`spec.identity.env[0]: Invalid value: "DNS_NAME": needs spec.serviceName`}},
		"with values of names that cannot be": {
			identity: &v1.MemberIdentity{Values: map[string]string{"size": "", "SET": "", "LONG": strings.Repeat("x", 4097)}}, want: []string{
				"spec.identity.values[LONG]: Too long: may not be more than 4096 bytes",
				"spec.identity.values[SET]: Forbidden: is a built-in parameter",
				`spec.identity.values[size]: Invalid value: "size": must have at most 63 upper-case letters, digits and underscores`,
			}},
		"with what changes while pods run, in what does not": {identity: &v1.MemberIdentity{}, change: func(s *v1.StatefulSetSpec) {
			s.Template.Spec.NodeSelector = map[string]string{"n": "$(REPLICAS)"}
		}, want: []string{
			`spec.template.spec.nodeSelector[n]: Invalid value: "$(REPLICAS)": for ordinal 0: changes while pods run; use it in env, args, command or objectTemplates`}},
		"with what changes while pods run, in a transform": {identity: transforms("/spec/priority", "REPLICAS"), want: []string{
			`spec.identity.transforms[0].expression: Invalid value: "REPLICAS": REPLICAS changes while pods run; use it in env, args, command or objectTemplates`}},
		"with a transform of what is the member's": {identity: transforms("/spec/hostname", "SET"), want: []string{
			"spec.identity.transforms[0].path: Forbidden: /spec/hostname belongs to the member's identity"}},
		"with a transform of a label of the selector": {identity: transforms("/metadata/labels/app", "SET"), want: []string{
			"spec.identity.transforms[0].path: Forbidden: /metadata/labels/app belongs to the member's identity"}},
		"with a transform of a reserved key": {
			identity: transforms("/metadata/annotations/apps.statefulset.dev~1in-place", "SET"), want: []string{
				`spec.identity.transforms[0].path: Invalid value: "/metadata/annotations/apps.statefulset.dev~1in-place": the controller sets key "apps.statefulset.dev/in-place"; use a key of another domain`}},
		"with an expression that is none": {identity: transforms("/spec/priority", "1 + foo"), want: []string{
			`spec.identity.transforms[0].expression: Invalid value: "1 + foo": 1:5: undeclared reference to 'foo'`}},
		"with an expression that fails for the last member": {identity: transforms("/spec/priority", "[1, 2][ORDINAL]"), want: []string{
			`spec.identity.transforms[0].expression: Invalid value: "[1, 2][ORDINAL]": for ordinal 2: 1:7: index out of bounds: 2`}},
		"with a path to what is not there": {identity: transforms("/spec/containers/7/image", "SET"), want: []string{
			`spec.identity.transforms[0].path: Invalid value: "/spec/containers/7/image": for ordinal 0: there is no entry 7: the length of the list is 1`}},
		"with a transform without anything": {identity: transforms("", ""), want: []string{
			"spec.identity.transforms[0].expression: Required value", "spec.identity.transforms[0].path: Required value"}},
		"with too many transforms": {identity: &v1.MemberIdentity{Transforms: make([]v1.Transform, 33)}, want: []string{
			"spec.identity.transforms: Too many: 33: must have at most 32 items"}},
		"and overrides with values without a default": {identity: &v1.MemberIdentity{}, change: func(s *v1.StatefulSetSpec) {
			s.Overrides = []v1.MemberOverride{override("big", upTo(0, 0))}
			s.Overrides[0].Values = map[string]string{"SIZE": "big"}
		}, want: []string{`spec.overrides[0].values[SIZE]: Not found: "SIZE"`}},
		"that there is not, and overrides with values": {change: func(s *v1.StatefulSetSpec) {
			s.Overrides = []v1.MemberOverride{override("big", upTo(0, 0))}
			s.Overrides[0].Values = map[string]string{"SIZE": "big"}
		}, want: []string{"spec.overrides[0].values[SIZE]: Forbidden: needs spec.identity"}},
		"and an override for which the template cannot be rendered": {identity: &v1.MemberIdentity{Values: map[string]string{"AT": "0"},
			Transforms: transforms("/spec/priority", "[1][int(AT)]").Transforms}, change: func(s *v1.StatefulSetSpec) {
			s.Overrides = []v1.MemberOverride{override("big", upTo(1, 1))}
			s.Overrides[0].Values = map[string]string{"AT": "3"}
		}, want: []string{`spec.identity.transforms[0].expression: Invalid value: "[1][int(AT)]": for ordinal 1: 1:4: index out of bounds: 3`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := func() *v1.StatefulSet {
				return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
					s.Identity, s.Replicas = test.identity, new(int32(3))
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

// A set whose members cannot all be rendered any more can still be scaled: the status tells which
// cannot.
func TestASetThatCannotBeRenderedCanBeScaled(t *testing.T) {
	bad := settest.Spec(func(s *v1.StatefulSetSpec) { s.Identity = transforms("/spec/priority", "[1][ORDINAL]") })
	old, set := settest.Changed(bad), settest.Changed(bad)
	set.Spec.Replicas = new(int32(9))
	if errs := ValidateUpdate(nil, set, old); len(errs) > 0 {
		t.Errorf("got %v, want it accepted", errs)
	}
}

func TestWarningsOfUnknownNames(t *testing.T) {
	with := settest.Spec(func(s *v1.StatefulSetSpec) {
		s.Identity = &v1.MemberIdentity{}
		s.Template.Annotations = map[string]string{"a": "$(HOSTNAME) $(hostname) $$(HOST)"}
		s.Template.Spec.Containers[0].Args = []string{"$(MINE) $(ORDINALS) $(WEB_SERVICE_HOST)"}
		s.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MINE", Value: "1"}, {Name: "SET", Value: "$(SET)"}}
	})
	const are = "is not a parameter, and is not replaced; parameters are DNS_NAME, IDENTITY, NAMESPACE, ORDINAL, REPLICAS, SERVICE, SET"
	want := []string{
		"spec.template.metadata.annotations[a]: $(HOSTNAME) " + are,
		"spec.template.spec.containers[0].args[0]: $(ORDINALS) " + are,
		"spec.template.spec.containers[0].env[1].value: $(SET) in SET is not the parameter of that name, and is not replaced; remove the variable: a container that names a parameter gets it",
	}
	got := warnings(t.Context(), settest.Changed(with), settest.Valid(), services{"nginx": true})
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got the warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := warnings(t.Context(), settest.Changed(with), settest.Changed(with), services{"nginx": true}); len(got) > 0 {
		t.Errorf("got the warnings %q of what has not changed", got)
	}
}

func TestWarningsOfUnknownNamesBesidePods(t *testing.T) {
	of := func(identity *v1.MemberIdentity) func(*v1.StatefulSet) {
		return settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Identity, s.ServiceName = identity, ""
			s.VolumeClaimTemplates[0].Labels = map[string]string{"a": "$(NODE)"}
			s.ObjectTemplates = []v1.ObjectTemplate{
				objectTemplate("conf",
					`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)"},"data":{"a":"$(DNS_NAME)","b":"$$(DNS_NAME)"}}`),
				forSet(objectTemplate("all", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"all"},"data":{"a":"$(IDENTITY)"}}`)),
			}
		})
	}
	const are = "is not a parameter here, and is not replaced; parameters here are"
	ofObjects := []string{
		"spec.objectTemplates[0].object.data.a: $(DNS_NAME) " + are + " IDENTITY, NAMESPACE, ORDINAL, REPLICAS, SET",
		"spec.objectTemplates[1].object.data.a: $(IDENTITY) " + are + " NAMESPACE, REPLICAS, SET",
	}
	ofClaims := []string{"spec.volumeClaimTemplates[0].metadata.labels[a]: $(NODE) " + are + " IDENTITY, NAMESPACE, ORDINAL, SET"}
	plain := settest.Spec(func(s *v1.StatefulSetSpec) {
		s.ServiceName, s.VolumeClaimTemplates[0].Labels = "", map[string]string{"a": "$(NODE)"}
	})
	for sentence, test := range map[string]struct {
		to, from func(*v1.StatefulSet) // the latter nil of a new set
		want     []string
	}{
		"none in what is not rendered":              {to: plain},
		"those in objects, if nothing else is":      {to: of(nil), want: ofObjects},
		"those in claim templates, too":             {to: of(&v1.MemberIdentity{}), want: slices.Concat(ofClaims, ofObjects)},
		"when the set gets what is rendered":        {to: of(&v1.MemberIdentity{}), from: plain, want: slices.Concat(ofClaims, ofObjects)},
		"not again when something else has changed": {to: of(&v1.MemberIdentity{}), from: of(&v1.MemberIdentity{})},
	} {
		t.Run(sentence, func(t *testing.T) {
			set, old := settest.Changed(test.to), (*v1.StatefulSet)(nil)
			set.Spec.Replicas = new(int32(7))
			if test.from != nil {
				old = settest.Changed(test.from)
			}
			if got := unnamed(set, old); !slices.Equal(got, test.want) {
				t.Errorf("got the warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestOfManyUnknownNamesSomeAreNamed(t *testing.T) {
	set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
		for range 3 {
			s.ObjectTemplates = append(s.ObjectTemplates, objectTemplate("conf", `{"data":{"a":"$(A) $(B) $(C)"}}`))
		}
	}))
	if got := unnamed(set, nil); len(got) != mostUnmounted {
		t.Errorf("got %d warnings, want %d: %q", len(got), mostUnmounted, got)
	}
}
