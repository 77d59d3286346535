// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"testing"

	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/settest"
)

// givingAway is a template whose objects are deleted when it is removed, so many seconds later.
func givingAway(name string, seconds int32) v1.ObjectTemplate {
	template := objectTemplate(name, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-%s"}}`, name))
	template.Retention = &v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}
	if seconds > 0 {
		template.Retention.ScaledAfterSeconds = &seconds
	}
	return template
}

func withTemplates(templates ...v1.ObjectTemplate) func(*v1.StatefulSet) {
	return settest.Spec(func(s *v1.StatefulSetSpec) { s.ObjectTemplates = templates })
}

func TestWarningsOfRemovedTemplates(t *testing.T) {
	kept := objectTemplate("conf", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}`)
	var many []v1.ObjectTemplate
	for n := range identity.MostRemovedTemplates + 1 {
		many = append(many, givingAway(fmt.Sprintf("t%d", n), 0))
	}
	for sentence, test := range map[string]struct {
		from, to func(*v1.StatefulSet)
		want     string // how the last one begins, empty for none
	}{
		"are not given where the objects stay": {withTemplates(kept), withTemplates(), ""},
		"are given where they go": {withTemplates(givingAway("conf", 0)), withTemplates(),
			`spec.objectTemplates: template "conf" (ConfigMap $(IDENTITY)-conf) is removed, and its objects are deleted when no pod can use them any more; to keep them, add the template again`},
		"say how much later": {withTemplates(givingAway("conf", 1800)), withTemplates(),
			`spec.objectTemplates: template "conf" (ConfigMap $(IDENTITY)-conf) is removed, and its objects are deleted 30m0s after no pod can use them any more; to keep them, add the template again`},
		"are given of those that are too many": {withTemplates(many...), withTemplates(),
			`spec.objectTemplates: template "t16" is removed, and its objects are kept, because the objects of 16 removed templates are not deleted yet, which is the limit`},
	} {
		t.Run(sentence, func(t *testing.T) {
			set, old := settest.Changed(test.to), settest.Changed(test.from)
			set.ResourceVersion, old.ResourceVersion = "1", "1"
			s := newStrategy(newScheme(t), services{"nginx": true}, nil)
			if err := rest.BeforeUpdate(s, request(t), set, old); err != nil {
				t.Fatal(err)
			}
			got := append([]string{""}, s.WarningsOnUpdate(t.Context(), set, old)...)
			if last := got[len(got)-1]; last != test.want {
				t.Errorf("got %q, want %q", last, test.want)
			}
		})
	}
}
