// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// listing is a template whose objects list the members by an expression.
func listing(name, expression string) v1.ObjectTemplate {
	t := objectTemplate("list", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`"}}`)
	t.Transforms = []v1.Transform{{Path: "/data/members", Expression: expression}}
	return t
}

func ofSet(expression string) v1.ObjectTemplate {
	return forSet(listing("$(SET)-list", expression))
}

func ofMembers(expression string) v1.ObjectTemplate {
	return listing("$(IDENTITY)-list", expression)
}

func withReplicas(replicas int32, templates ...v1.ObjectTemplate) *v1.StatefulSet {
	return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.Replicas, s.ObjectTemplates = new(replicas), templates }))
}

const (
	namesOfAll  = "MEMBERS.map(m, m.identity).join()"
	tooMany     = "MEMBERS has 129 members; at most 128 are allowed in an object of each member; use scope Set"
	ofTransform = "spec.objectTemplates[0].transforms[0].expression: Invalid value: "
)

func TestObjectsThatListMembers(t *testing.T) {
	for sentence, test := range map[string]struct {
		set  *v1.StatefulSet
		want []string
	}{
		"of members, as many as may be": {set: withReplicas(128, ofMembers(namesOfAll))},
		"of members, of one too many": {
			set: withReplicas(129, ofMembers(namesOfAll)), want: []string{ofTransform + `"` + namesOfAll + `": ` + tooMany}},
		"of members, that only seem to": {set: withReplicas(129, ofMembers("'MEMBERS'"))},
		"of the set":                    {set: withReplicas(2000, ofSet(namesOfAll))},
		"of the set, and cost too much": {
			set: withReplicas(9000, ofSet(namesOfAll)), want: []string{ofTransform + `"` + namesOfAll + `": may cost `}},
		"of the set, with fields unknown": {
			set: withReplicas(3, ofSet("MEMBERS[0].port")), want: []string{ofTransform + `"MEMBERS[0].port": 1:11: undefined field 'port'`}},
		"that a set of none has not": {set: withReplicas(0, ofSet("MEMBERS[0].identity")), want: []string{
			ofTransform + `"MEMBERS[0].identity": for ordinal 0: 1:11: index out of bounds: 0`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			verdict{want: test.want}.check(t, onUpdate(t, test.set.DeepCopy()))
			verdict{want: test.want}.check(t, onCreate(t, test.set.DeepCopy()))
		})
	}
}

func TestPodsDoNotListMembers(t *testing.T) {
	set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.Identity = transforms("/spec/priority", "size(MEMBERS)") }))
	verdict{want: []string{
		`spec.identity.transforms[0].expression: Invalid value: "size(MEMBERS)": MEMBERS changes while pods run; use it in transforms of objectTemplates`}}.check(t, onUpdate(t, set))
}

func TestReplicasAreRaisedAsFarAsObjectsCanListThem(t *testing.T) {
	for sentence, test := range map[string]struct {
		template v1.ObjectTemplate
		from, to int32
		want     []string
	}{
		"of members, as many as may be": {template: ofMembers(namesOfAll), from: 3, to: 128},
		"not to one more": {template: ofMembers(namesOfAll), from: 3, to: 129,
			want: []string{"spec.replicas: Invalid value: 129: objectTemplates[0].transforms[0]: " + tooMany}},
		"of the set": {template: ofSet(namesOfAll), from: 3, to: 2000},
		"not so far that they cost too much": {template: ofSet(namesOfAll), from: 3, to: 9000,
			want: []string{"spec.replicas: Invalid value: 9000: objectTemplates[0].transforms[0]: may cost "}},
		"not so far that they are too long": {template: ofSet("MEMBERS"), from: 3, to: 2000,
			want: []string{"spec.replicas: Invalid value: 2000: objectTemplates[0].transforms[0]: gives more than 65536 bytes"}},
		"if they could not before, any far":   {template: ofMembers(namesOfAll), from: 129, to: 200},
		"and lowered in any case":             {template: ofSet("MEMBERS[2].identity"), from: 3, to: 1},
		"as far as you like if none does":     {template: ofMembers("REPLICAS"), from: 3, to: 2_000_000_000},
		"as far as you like if it only seems": {template: ofMembers("'MEMBERS'"), from: 3, to: 2_000_000_000},
	} {
		t.Run(sentence, func(t *testing.T) {
			old, set := withReplicas(test.from, test.template), withReplicas(test.to, test.template)
			var got []string
			for _, err := range ValidateUpdate(nil, set, old) {
				got = append(got, err.Error())
			}
			verdict{want: test.want}.check(t, got)
		})
	}
}

func TestAScaleIsRefusedThatObjectsCannotList(t *testing.T) {
	s := newTestStorage(t)
	create(t, s, withReplicas(3, ofMembers(namesOfAll)))
	scale := func(replicas int32) error {
		_, err := rescale(s, "web", func(scale *autoscalingv1.Scale) { scale.Spec.Replicas = replicas })
		return err
	}
	if err := scale(129); err == nil ||
		!strings.Contains(err.Error(), "spec.replicas: Invalid value: 129: objectTemplates[0].transforms[0]: "+tooMany) {
		t.Errorf("got %v, want it refused: %s", err, tooMany)
	}
	if err := scale(128); err != nil {
		t.Errorf("got %v, want it accepted", err)
	}
}
