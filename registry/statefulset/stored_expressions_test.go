// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// TestStoredExpressionsStayValid is about expressions that an earlier version has accepted. They block no
// change of anything else, and nobody adds another one.
func TestStoredExpressionsStayValid(t *testing.T) {
	big := strings.Repeat("x", 4096)
	bad := map[string]func(*v1.StatefulSetSpec){
		"a pattern that is computed": func(s *v1.StatefulSetSpec) {
			s.Identity = transforms("/metadata/annotations/a", `string(IDENTITY.matches(SET))`)
		},
		"a text that grows too long": func(s *v1.StatefulSetSpec) {
			s.Identity = transforms("/metadata/annotations/a", `[BIG].map(x, x.replace("", "aaaaaaaaaaaaaaaaaaaa"))[0]`)
			s.Identity.Values = map[string]string{"BIG": big}
		},
		"an annotation of ours": func(s *v1.StatefulSetSpec) {
			s.Identity = transforms("/metadata/annotations/apps.statefulset.dev~1in-place", "SET")
		},
		"an output that makes a text longer": func(s *v1.StatefulSetSpec) {
			s.Identity = &v1.MemberIdentity{}
			s.ObjectTemplates = []v1.ObjectTemplate{
				{Name: "a", Outputs: []v1.ObjectOutput{{Name: "OUT", Expression: "object.data.a + object.data.a"}},
					Object: runtime.RawExtension{
						Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"data":{"a":"b"}}`)}}}
		},
	}
	changes := map[string]struct {
		change  func(*v1.StatefulSet)
		refused bool
	}{
		"scaled":              {change: func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(9)) }},
		"given a finalizer":   {change: func(s *v1.StatefulSet) { s.Finalizers = []string{"example.com/a"} }},
		"given another image": {change: func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "another" }},
		"given another label": {change: func(s *v1.StatefulSet) { s.Labels = map[string]string{"a": "b"} }},
		"paused":              {change: func(s *v1.StatefulSet) { s.Spec.UpdateStrategy.RollingUpdate.Paused = new(true) }},
		"given an override":   {change: func(s *v1.StatefulSet) { s.Spec.Overrides = []v1.MemberOverride{override("big", upTo(0, 0))} }},
		"given another transform that fails": {refused: true, change: func(s *v1.StatefulSet) {
			s.Spec.Identity.Transforms = append(s.Spec.Identity.Transforms, v1.Transform{Path: "/spec/priority", Expression: "1 + foo"})
		}},
	}
	for sentence, write := range bad {
		old := settest.Changed(settest.Spec(write))
		if errs := Validate(nil, old); len(errs) == 0 {
			t.Errorf("%s: a new set is accepted, want it refused", sentence)
		}
		for change, test := range changes {
			t.Run("a set with "+sentence+" is "+change, func(t *testing.T) {
				set := old.DeepCopy()
				test.change(set)
				if errs := ValidateUpdate(nil, set, old); (len(errs) > 0) != test.refused {
					t.Errorf("got errors %v, want refused: %t", errs, test.refused)
				}
			})
		}
	}
}
