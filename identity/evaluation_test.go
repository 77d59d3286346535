// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

func evaluating() *v1.StatefulSet {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	set.Spec.Replicas, set.Spec.ServiceName = new(int32(3)), "svc"
	set.Spec.Identity = &v1.MemberIdentity{Env: []string{"ZONE"}, Values: map[string]string{"ZONE": "a"},
		Transforms: []v1.Transform{{Path: "/metadata/annotations/a", Expression: "ZONE"}}}
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{
		{Name: "plain", Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)"}}`)}},
		{Name: "conf", Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"conf"}}`)},
			Scope:      v1.SetObjectScope,
			Transforms: []v1.Transform{{Path: "/data/a", Expression: "SET"}}, Outputs: []v1.ObjectOutput{{Name: "A", Expression: "object.data.a"}}},
	}
	return set
}

func TestTheInputsOfAnEvaluationAreWhatExpressionsRead(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		other  bool
	}{
		"an expression of pods":    {func(s *v1.StatefulSet) { s.Spec.Identity.Transforms[0].Expression = "SET" }, true},
		"the path of a transform":  {func(s *v1.StatefulSet) { s.Spec.Identity.Transforms[0].Path = "/metadata/annotations/b" }, true},
		"an expression of objects": {func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[1].Transforms[0].Expression = "NAMESPACE" }, true},
		"an output":                {func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[1].Outputs[0].Expression = "object.data.b" }, true},
		"the scope of objects":     {func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[1].Scope = v1.MemberObjectScope }, true},
		"a value":                  {func(s *v1.StatefulSet) { s.Spec.Identity.Values["ZONE"] = "b" }, true},
		"a value of one member": {func(s *v1.StatefulSet) {
			s.Spec.Overrides = []v1.MemberOverride{{Values: map[string]string{"ZONE": "b"}}}
		}, true},
		"the Service":           {func(s *v1.StatefulSet) { s.Spec.ServiceName = "other" }, true},
		"the number of members": {func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(5)) }, false},
		"the first ordinal":     {func(s *v1.StatefulSet) { s.Spec.Ordinals = &v1.StatefulSetOrdinals{Start: 5} }, false},
		"a variable":            {func(s *v1.StatefulSet) { s.Spec.Identity.Env = nil }, false},
		"the text of an object": {func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[0].Object.Raw = []byte(`{}`) }, false},
		"the pod template":      {func(s *v1.StatefulSet) { s.Spec.Template.Labels = map[string]string{"a": "b"} }, false},
		"an override without values": {
			func(s *v1.StatefulSet) { s.Spec.Overrides = []v1.MemberOverride{{Labels: map[string]string{"a": "b"}}} }, false},
		"a label of the set":            {func(s *v1.StatefulSet) { s.Labels = map[string]string{"a": "b"} }, false},
		"the status, and what it marks": {func(s *v1.StatefulSet) { s.Status.Evaluation = &v1.StatefulSetEvaluation{Inputs: "a"} }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := evaluating()
			before := EvaluationOf(set).Inputs
			test.change(set)
			if after := EvaluationOf(set).Inputs; (after != before) != test.other || len(after) != 16 {
				t.Errorf("got inputs %s, before %s, want others: %t, and 16 digits", after, before, test.other)
			}
		})
	}
	for _, name := range []string{"MEMBERS.map(m, m.identity)", "REPLICAS"} {
		set := evaluating()
		set.Spec.ObjectTemplates[1].Transforms[0].Expression = name
		before := EvaluationOf(set).Inputs
		set.Spec.Replicas = new(int32(5))
		if after := EvaluationOf(set).Inputs; after == before {
			t.Errorf("%s, and other members: got the same inputs %s, want others", name, after)
		}
	}
}

func TestTheFieldsOfAnEvaluationHaveExpressions(t *testing.T) {
	older := Source{Identity: evaluating().Spec.Identity}
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		older  []Source
		want   []string
	}{
		"pods and objects": {func(*v1.StatefulSet) {}, nil,
			[]string{"spec.identity.transforms", "spec.objectTemplates[1].transforms", "spec.objectTemplates[1].outputs"}},
		"values alone": {func(s *v1.StatefulSet) {
			s.Spec.Identity.Transforms, s.Spec.ObjectTemplates = nil, s.Spec.ObjectTemplates[:1]
		}, nil, nil},
		"none": {func(s *v1.StatefulSet) { s.Spec = v1.StatefulSetSpec{} }, nil, nil},
		"those of an earlier revision": {func(s *v1.StatefulSet) { s.Spec = v1.StatefulSetSpec{} }, []Source{older},
			[]string{"spec.identity.transforms"}},
		"an earlier revision without transforms": {
			func(s *v1.StatefulSet) { s.Spec = v1.StatefulSetSpec{} }, []Source{{}, {Identity: &v1.MemberIdentity{}}}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := evaluating()
			test.change(set)
			if got := EvaluationOf(set, test.older...); !slices.Equal(got.Fields, test.want) || got.Any() != (len(test.want) > 0) {
				t.Errorf("got fields %q, any %t, want %q", got.Fields, got.Any(), test.want)
			}
		})
	}
}

func TestASetIsSetAsideAsLongAsItsInputsAreTheSame(t *testing.T) {
	set := evaluating()
	inputs := EvaluationOf(set).Inputs
	for sentence, test := range map[string]struct {
		mark *v1.StatefulSetEvaluation
		want bool
	}{
		"no mark":                           {nil, false},
		"a mark of what is being evaluated": {&v1.StatefulSetEvaluation{Inputs: inputs, Deaths: 1}, false},
		"a stop":                            {&v1.StatefulSetEvaluation{Inputs: inputs, StoppedAt: new(metav1.Now())}, true},
		"a stop of other inputs":            {&v1.StatefulSetEvaluation{Inputs: "other", StoppedAt: new(metav1.Now())}, false},
	} {
		if set.Status.Evaluation = test.mark; IsEvaluationStopped(set) != test.want {
			t.Errorf("%s: got set aside %t, want %t", sentence, IsEvaluationStopped(set), test.want)
		}
	}
}

// countingContext has ended from the beginning, and counts how often it is asked.
type countingContext struct {
	context.Context //nolint:containedctx // it is one

	asked atomic.Int64
}

func (c *countingContext) Err() error {
	c.asked.Add(1)
	return context.DeadlineExceeded
}

func TestAnEvaluationEndsWithItsTime(t *testing.T) {
	set, over := evaluating(), &countingContext{Context: t.Context()}
	EvaluationOf(set, Source{Template: &set.Spec.Template, Identity: set.Spec.Identity}).Run(render.Within(over), make([]int, 1000))
	if asked := over.asked.Load(); asked > 10 {
		t.Errorf("asked %d times whether the time is over, want 10 at most for 1000 members: it was over from the beginning", asked)
	}
}
