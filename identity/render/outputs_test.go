// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
)

// objectWith is a template with an output A.
func objectWith(output string) *v1.ObjectTemplate {
	return &v1.ObjectTemplate{Object: runtime.RawExtension{Raw: []byte(`{}`)}, Outputs: []v1.ObjectOutput{{Name: "A", Expression: output}}}
}

func TestWhatAnObjectGives(t *testing.T) {
	object := map[string]any{
		"data": map[string]any{"a": "1", "empty": "", "zero": "a\x00b", "long": strings.Repeat("x", 1025)},
		"spec": map[string]any{"port": int64(80)},
		"list": []any{map[string]any{"kind": "a", "at": "x"}, map[string]any{"kind": "b", "at": "y"}},
	}
	for sentence, test := range map[string]struct {
		expression, want, missing string
	}{
		"a text":                           {expression: "object.data.a", want: "1"},
		"an empty text, which is one":      {expression: "object.data.empty"},
		"a number that is made text":       {expression: "string(object.spec.port)", want: "80"},
		"what is found in a list":          {expression: "object.list.filter(o, o.kind == 'b')[0].at", want: "y"},
		"what need not be there":           {expression: "object.?status.?address.orValue('none')", want: "none"},
		"nothing where a field is missing": {expression: "object.status.address", missing: "no such key: status"},
		"nothing where a list is short":    {expression: "object.list[2].at", missing: "index out of bounds: 2"},
		"nothing where it is a number":     {expression: "object.spec.port", missing: "gives a value of type int, not a string"},
		"nothing where it is an object":    {expression: "object.data", missing: "gives a value of type map, not a string"},
		"nothing of a text with a zero":    {expression: "object.data.zero", missing: "gives a string with a zero byte"},
		"nothing of a text that is long":   {expression: "object.data.long", missing: "gives 1025 bytes, at most 1024 are allowed"},
		"nothing of what costs too much": {
			expression: "[1,1,1,1,1,1,1,1].all(a, [1,1,1,1,1,1,1,1].all(b, [1,1,1,1,1,1,1,1].all(c, [1,1,1,1,1,1,1,1].all(d, [1,1,1,1,1,1,1,1].all(e, a*b*c*d*e > 0))))) ? 'x' : object.data.a", missing: "cost limit exceeded"},
	} {
		t.Run(sentence, func(t *testing.T) {
			o, wrong := NewObject(Source{Name: "db"}, objectWith(test.expression), "t")
			if wrong != nil || len(o.Check()) > 0 {
				t.Fatalf("got %v, %v, want no error", wrong, o.Check())
			}
			got := o.EvaluateOutputs(object)["A"]
			if got.Value != test.want || !strings.Contains(got.Missing, test.missing) || (got.Missing == "") != (test.missing == "") {
				t.Errorf("got %+v, want %q, or nothing because %q", got, test.want, test.missing)
			}
		})
	}
}

func TestOutputsAreReadFromAnnotations(t *testing.T) {
	of := source(v1.MemberIdentity{Env: []string{"B"}, Values: map[string]string{"C": "mine"}})
	of.Outputs = []string{"A", "B", "C", "D"}
	template := read[corev1.PodTemplateSpec](t, "spec: {containers: [{name: a, args: ['$(A) $(C)']}]}")
	want := read[corev1.PodTemplateSpec](t,
		"metadata: {annotations: {apps.statefulset.dev/output.A: '', apps.statefulset.dev/output.B: ''}}\n"+
			"spec: {containers: [{name: a, args: ['$(A) $(C)'], env: [{name: B, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: \"metadata.annotations['apps.statefulset.dev/output.B']\"}}}, "+
			"{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: \"metadata.annotations['apps.statefulset.dev/output.A']\"}}}, {name: C, value: mine}]}]}")
	got, wrong := New(of).Pod(template, Member{Ordinal: 2})
	if wrong != nil || yamlOf(t, got) != yamlOf(t, want) {
		t.Errorf("got\n%s%v\nwant\n%s", yamlOf(t, got), wrong, yamlOf(t, want))
	}
}
