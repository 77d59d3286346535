// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

const (
	twoKinds   = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-auth"},"Kind":"Secret"}`
	notTwo     = `spec.objectTemplates[0].object: Invalid value: "Kind": the key differs from "kind" only in case, and keys are case-sensitive`
	finalizer  = "example.com/finalizer"
	goodObject = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}`
)

func TestManifestsThatTwoProgramsCouldReadInTwoWaysAreRefused(t *testing.T) {
	for sentence, test := range map[string]struct{ manifest, want string }{
		"a kind and a Kind": {twoKinds, notTwo},
		"two kinds": {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-auth"},"kind":"ConfigMap"}`,
			`spec.objectTemplates[0].object: Invalid value: "kind": the key appears twice; write each key once`},
		"a Finalizers": {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-auth","Finalizers":["a/b"]}}`,
			`spec.objectTemplates[0].object.metadata: Invalid value: "Finalizers": the key differs from "finalizers" only in case`},
		"a key of the data that appears twice": {
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-auth"},"data":{"a":"1","a":"2"}}`,
			`spec.objectTemplates[0].object.data: Invalid value: "a": the key appears twice; write each key once`,
		},
		"keys of the data that differ in case are accepted": {
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-auth"},"data":{"Kind":"1","kind":"2"}}`, "",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			set := func() *v1.StatefulSet { return settest.Changed(withTemplates(objectTemplate("auth", test.manifest))) }
			verdict{want: want}.check(t, onCreate(t, set()))
			verdict{want: want}.check(t, onUpdate(t, set()))
		})
	}
}

// TestAStoredManifestWithBadKeysBlocksNothingElse has a set that was stored before such manifests were
// refused.
func TestAStoredManifestWithBadKeysBlocksNothingElse(t *testing.T) {
	stored := settest.Changed(withTemplates(objectTemplate("auth", twoKinds)))
	manifest := func(text string) func(*v1.StatefulSet) { return withTemplates(objectTemplate("auth", text)) }
	stored.ResourceVersion, stored.Finalizers = "1", []string{finalizer}
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		want   string
	}{
		"an update of nothing is accepted": {change: func(*v1.StatefulSet) {}},
		"a scale-up is accepted":           {change: func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(7)) }},
		"another image is accepted":        {change: func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "nginx:2" }},
		"another service is accepted":      {change: func(s *v1.StatefulSet) { s.Spec.ServiceName = "other" }},
		"overrides are accepted": {change: func(s *v1.StatefulSet) {
			s.Spec.Overrides = []v1.MemberOverride{{Name: "big", Ordinals: []v1.OrdinalRange{{First: 1}}, NodeSelector: map[string]string{"a": "b"}}}
		}},
		"values are accepted": {change: func(s *v1.StatefulSet) {
			s.Spec.Identity = &v1.MemberIdentity{Values: map[string]string{"A": "b"}}
		}},
		"the removal of a finalizer is accepted": {change: func(s *v1.StatefulSet) { s.Finalizers = nil }},
		"another template is accepted": {change: func(s *v1.StatefulSet) {
			s.Spec.ObjectTemplates = append(s.Spec.ObjectTemplates, objectTemplate("conf", goodObject))
		}},
		"another template in front is accepted": {change: func(s *v1.StatefulSet) {
			s.Spec.ObjectTemplates = append([]v1.ObjectTemplate{objectTemplate("conf", goodObject)}, s.Spec.ObjectTemplates...)
		}},
		"a transform of the template is accepted": {change: func(s *v1.StatefulSet) {
			s.Spec.ObjectTemplates[0].Transforms = []v1.Transform{{Path: "/data", Expression: "{'a': SET}"}}
		}},
		"the removal of the template is accepted": {change: func(s *v1.StatefulSet) { s.Spec.ObjectTemplates = nil }},
		"the same manifest in another order is accepted": {change: manifest(
			`{"Kind":"Secret","kind":"ConfigMap", "metadata":{"name":"$(IDENTITY)-auth"},"apiVersion":"v1"}`)},
		"the manifest without the second kind is accepted": {change: manifest(strings.Replace(twoKinds, `,"Kind":"Secret"`, "", 1))},
		"the manifest with another second kind is refused": {change: manifest(strings.Replace(twoKinds, "Secret", "Pod", 1)), want: notTwo},
		"a template of another name with it is refused":    {change: withTemplates(objectTemplate("other", twoKinds)), want: notTwo},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := stored.DeepCopy()
			test.change(set)
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			verdict{want: want}.check(t,
				settest.Causes(t, rest.BeforeUpdate(newStrategy(newScheme(t), nil, nil), request(t), set, stored.DeepCopy())))
		})
	}
}

func TestAManifestThatGetsASecondKeyIsRefusedAlthoughItSaysTheSame(t *testing.T) {
	old := settest.Changed(withTemplates(objectTemplate("auth", goodObject)))
	set := settest.Changed(withTemplates(objectTemplate("auth", strings.Replace(goodObject, `"kind"`, `"kind":"Secret","kind"`, 1))))
	old.ResourceVersion, set.ResourceVersion = "1", "1"
	verdict{want: []string{`spec.objectTemplates[0].object: Invalid value: "kind": the key appears twice; write each key once`}}.check(t,
		settest.Causes(t, rest.BeforeUpdate(newStrategy(newScheme(t), nil, nil), request(t), set, old)))
}
