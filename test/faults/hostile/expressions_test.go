//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// appetite is how much the hostile expressions ask for. With 20, a server that does not limit
// what they allocate allocates 7 GiB for a value of 4 KiB. APPETITE sets a smaller one, with which
// such a server survives long enough to be measured.
const appetite = 20

// hostileExpression is an expression that is short and asks for much.
type hostileExpression struct {
	// set gives a set the expression, or the harmless one that it replaces.
	set func(set *v1.StatefulSet, expression string)
	// hostile and harmless are the expressions. Both are text.
	hostile, harmless string
	// field is the field of the expression, which a refusal names.
	field string
}

// hostileExpressions are by what they do.
func hostileExpressions(t *testing.T) map[string]hostileExpression {
	t.Helper()
	factor := harness.Number(t, "APPETITE", appetite)
	transform := func(value string) func(*v1.StatefulSet, string) {
		return func(set *v1.StatefulSet, expression string) {
			set.Spec.Identity = &v1.MemberIdentity{Values: map[string]string{"VALUE": value},
				Transforms: []v1.Transform{{Path: "/metadata/annotations/test~1x", Expression: expression}}}
		}
	}
	return map[string]hostileExpression{
		"nested": {
			set:      transform(strings.Repeat("x", 4<<10)),
			hostile:  fmt.Sprintf(`[VALUE].map(x, x.replace("", %q)).map(z, z.replace("", z))[0]`, strings.Repeat("a", factor)),
			harmless: `VALUE.lowerAscii()`, field: "spec.identity.transforms[0].expression",
		},
		"squared": {
			set: func(set *v1.StatefulSet, expression string) {
				set.Spec.Identity = &v1.MemberIdentity{}
				set.Spec.Template.Spec.Containers[0].Args = []string{"$(OUTPUT)"}
				manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"data":{"a":%q}}`,
					strings.Repeat("x", 3*factor<<10))
				set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "a", Object: runtime.RawExtension{Raw: []byte(manifest)},
					Outputs: []v1.ObjectOutput{{Name: "OUTPUT", Expression: expression}}}}
			},
			hostile:  `object.data.a.replace("", object.data.a)`,
			harmless: `object.metadata.name`, field: "spec.objectTemplates[0].outputs[0].expression",
		},
		"patterns": {
			set:      transform(strings.Repeat("a{1000}", 580)),
			hostile:  fmt.Sprintf(`string([%s].map(i, [VALUE].map(p, "".matches(p))).size())`, strings.Repeat("1,", factor/2)+"1"),
			harmless: `"a".matches("a{1,10}") ? "a" : "b"`, field: "spec.identity.transforms[0].expression",
		},
	}
}

// with is a set of no pods that has an expression, as a body.
func (e hostileExpression) with(t *testing.T, name, expression string) string {
	t.Helper()
	set := harness.NewSet(name, 0)
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.test/main:1"}}
	e.set(set, expression)
	body, err := json.Marshal(set)
	if err != nil {
		t.Fatalf("encoding a set: %v", err)
	}
	return string(body)
}
