// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "statefulset.dev/api/apps/v1"
)

// FuzzSubstitute: a text without names that are known stays as it is; what is substituted is
// bounded by the text and its values, and values are not looked into.
func FuzzSubstitute(f *testing.F) {
	for _, text := range []string{
		"", "$", "$(", "$()", "$(SET)", "$$(SET)", "$$$(SET)", "$(other)$(SET)", "a$(SET", "$($(SET))", "$(SET)$(SET)"} {
		f.Add(text, "x$(SET)")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		is := func(name string) bool { return name == "SET" }
		got := substitute(text, is, func(string) string { return value })
		if !strings.Contains(text, "$(SET)") && got != text {
			t.Fatalf("without a name: got %q, want %q", got, text)
		}
		if most := len(text) + strings.Count(text, "$(SET)")*len(value); len(got) > most {
			t.Fatalf("got %d bytes, want at most %d", len(got), most)
		}
		marked := substitute(text, is, func(string) string { return "\x00" })
		if plain := strings.ReplaceAll(marked, "\x00", value); !strings.Contains(text, "\x00") && plain != got {
			t.Fatalf("got %q, want each name replaced once: %q", got, plain)
		}
		expanded(text, func(string) {})
	})
}

// FuzzPointer: a path that is understood is written as it was; what it sets is there afterwards,
// and no path is a panic.
func FuzzPointer(f *testing.F) {
	for _, path := range []string{
		"/a", "/spec/containers/0/image", "/spec/containers/-", "/a~1b/c~0", "/", "", "/a//b", "/~", "/spec/containers/9999999999999999999"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		p, err := parsePointer(path)
		if err != nil {
			return
		}
		if p.String() != path {
			t.Fatalf("got %q, want %q", p.String(), path)
		}
		tree := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a"}}, "priority": int64(1)}}
		if _, err := p.set(tree, "value"); err != nil {
			return
		}
		again := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a"}}, "priority": int64(1)}}
		if _, err := p.set(again, "value"); err != nil || !equality.Semantic.DeepEqual(tree, again) {
			t.Fatalf("got %v, %v the second time, want %v", again, err, tree)
		}
	})
}

// FuzzPod: whatever the transform and the strings, what is rendered is an error or the same every
// time, and within its bounds.
func FuzzPod(f *testing.F) {
	for _, seed := range [][3]string{
		{"/spec/priority", "ORDINAL", "$(IDENTITY)"}, {"/spec/schedulerName", "SET + string(ORDINAL)", "$$(SET)"},
		{"/spec/containers/-", "{'name': 'b', 'args': ['$(REPLICAS)']}", "$(REPLICAS)"}, {"/spec/x", "{'a': [1, 2.5, true, b'x']}", "$(V)"},
		{"/metadata/annotations/a", "'%d %s'.format([ORDINAL, V])", "$(DNS_NAME)"},
		{"/spec/priority", "lists.range(1000).map(i, i * i)[999]", ""},
		{"/spec/priority", "regex.extract(IDENTITY, '[0-9]+').orValue('').matches('(a+)+b') ? 1 : 2", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], int32(3))
	}
	f.Fuzz(func(t *testing.T, path, expression, text string, ordinal int32) {
		template := &corev1.PodTemplateSpec{}
		template.Labels, template.Annotations = map[string]string{"app": "db"}, map[string]string{"text": text}
		template.Spec.Containers = []corev1.Container{
			{Name: "a", Image: text, Args: []string{text}, Env: []corev1.EnvVar{{Name: "E", Value: text}}}}
		m := Member{Ordinal: int(ordinal & (1<<31 - 1))}
		render := func() (*corev1.PodTemplateSpec, *Error) {
			return New(source(v1.MemberIdentity{Values: map[string]string{"V": text}, Transforms: one(path, expression)})).Pod(template, m)
		}
		got, wrong := render()
		again, wrongAgain := render()
		if (wrong == nil) != (wrongAgain == nil) || wrong != nil && wrong.Error() != wrongAgain.Error() ||
			!equality.Semantic.DeepEqual(got, again) {
			t.Fatalf("got %v, %v, and then %v, %v", got, wrong, again, wrongAgain)
		}
		if got == nil {
			return
		}
		if got.Labels["app"] != "db" || got.Spec.Hostname != "" || got.Name != "" {
			t.Fatalf("got %v, want what belongs to the identity untouched", got)
		}
		if size := got.Size(); size > template.Size()+mostText+mostTransforms*mostResult {
			t.Fatalf("got %d bytes", size)
		}
	})
}

// FuzzObject: whatever the manifest, the transform and the output, an object is an error or the same every
// time, of the name that was told before, and as its inputs say; and an output is a bounded text for a
// variable, or says why there is none.
func FuzzObject(f *testing.F) {
	for _, seed := range [][4]string{
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"a":"$(ORDINAL)"}}`, "/data/b",
			"SET + string(ORDINAL)", "object.data.a"},
		{`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)"},"status":{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}}`,
			"/spec", "{'type': 'LoadBalancer'}", "object.status.loadBalancer.ingress[0].ip"},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"binaryData":{"a":"AA=="}}`, "/data/members",
			"MEMBERS.map(m, m.identity).join(',')", "object.metadata.annotations"},
		{`{"metadata":[{"name":1}]}`, "/metadata/-", "1", "object.metadata[1]"}, {`null`, "/", "", "object"},
		{`{"metadata":{"name":"$(`, "/data", "'x'", "string(object)"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], int32(3))
	}
	f.Fuzz(func(t *testing.T, manifest, path, expression, gives string, ordinal int32) {
		template := &v1.ObjectTemplate{Object: runtime.RawExtension{Raw: []byte(manifest)}, Transforms: one(path, expression),
			Outputs: []v1.ObjectOutput{{Name: "A", Expression: gives}}}
		m := Member{Ordinal: int(ordinal & (1<<31 - 1))}
		of := source(v1.MemberIdentity{})
		o, wrong := NewObject(of, template, "objectTemplates[0]")
		if wrong != nil {
			return
		}
		got, wrong := o.Render(m)
		other, _ := NewObject(of, template, "objectTemplates[0]")
		again, wrongAgain := other.Render(m)
		if (wrong == nil) != (wrongAgain == nil) || wrong != nil && wrong.Error() != wrongAgain.Error() ||
			!equality.Semantic.DeepEqual(got, again) {
			t.Fatalf("got %v, %v, and then %v, %v", got, wrong, again, wrongAgain)
		}
		if first, second := o.Inputs(m), other.Inputs(m); first != second {
			t.Fatalf("the inputs are %s, and then %s", first, second)
		}
		if metadata, _ := got["metadata"].(map[string]any); metadata != nil {
			if name, is := metadata["name"].(string); is && name != o.Name(m) {
				t.Fatalf("the object is called %q, and was to be %q", name, o.Name(m))
			}
		}
		object := map[string]any{}
		if err := utiljson.Unmarshal([]byte(manifest), &object); err != nil {
			return
		}
		switch given, is := o.EvaluateOutputs(object)["A"]; {
		case !is:
			t.Fatal("nothing is said of the output")
		case given.Missing != "" && given.Value != "":
			t.Fatalf("got %q, and that it is missing: %s", given.Value, given.Missing)
		case len(given.Value) > mostOfOutput || strings.ContainsRune(given.Value, 0):
			t.Fatalf("got %d bytes, %q", len(given.Value), given.Value)
		}
	})
}
