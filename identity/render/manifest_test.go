// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestKeysOfManifests(t *testing.T) {
	const twice = "the key appears twice; write each key once"
	resembles := func(known string) string {
		return fmt.Sprintf("the key differs from %q only in case, and keys are case-sensitive; write %[1]q, or use another key", known)
	}
	long := strings.Repeat("k", 90<<10)
	const plain = `{"apiVersion":"v1","kind":"A","metadata":{"name":"a","labels":{"A":"1","a":"2"}},"data":{"Kind":"1","kind":"2"}}`
	nested := func(levels int) string {
		return `{"kind":"A","spec":` + strings.Repeat(`[`, levels-1) + strings.Repeat(`]`, levels-1) + `}`
	}
	for sentence, test := range map[string]struct {
		manifest, at, key, want string
	}{
		"plain keys are accepted":                   {manifest: plain},
		"text that is not JSON is left to others":   {manifest: `{"kind":"A","kind"`},
		"a second kind is refused":                  {`{"kind":"A","kind":"B"}`, "o", "kind", twice},
		"a second kind with an escape is refused":   {`{"kind":"A","\u006bind":"B"}`, "o", "kind", twice},
		"two keys that are not UTF-8 are refused":   {"{\"a\xff\":1,\"a\xfe\":2}", "o", "a\ufffd", twice},
		"Kind next to kind is refused":              {`{"kind":"A","Kind":"B"}`, "o", "Kind", resembles("kind")},
		"KIND alone is refused":                     {`{"KIND":"A"}`, "o", "KIND", resembles("kind")},
		"a kind with the sign of Kelvin is refused": {"{\"\u212aind\":\"A\"}", "o", "\u212aind", resembles("kind")},
		"apiversion is refused":                     {`{"apiversion":"v1"}`, "o", "apiversion", resembles("apiVersion")},
		"Metadata is refused":                       {`{"Metadata":{}}`, "o", "Metadata", resembles("metadata")},
		"Status is refused":                         {`{"Status":{}}`, "o", "Status", resembles("status")},
		"stringdata is refused":                     {`{"stringdata":{}}`, "o", "stringdata", resembles("stringData")},
		"Name in metadata is refused":               {`{"metadata":{"Name":"a"}}`, "o.metadata", "Name", resembles("name")},
		"Finalizers in metadata is refused":         {`{"metadata":{"Finalizers":[]}}`, "o.metadata", "Finalizers", resembles("finalizers")},
		"a second metadata is refused":              {`{"metadata":{},"metadata":{}}`, "o", "metadata", twice},
		"a second name is refused":                  {`{"metadata":{"name":"a","name":"b"}}`, "o.metadata", "name", twice},
		"a second label is refused":                 {`{"metadata":{"labels":{"a.b/c":"1","a.b/c":"2"}}}`, "o.metadata.labels", "a.b/c", twice},
		"a second key in a list is refused":         {`{"spec":{"ports":[{},{"port":1,"port":2}]}}`, "o.spec.ports[1]", "port", twice},
		"Name in another metadata is accepted":      {manifest: `{"spec":{"metadata":{"Name":"a","name":"b"}}}`},
		"a long key is cut":                         {fmt.Sprintf(`{%q:{"a":1,"a":2}}`, long), "o." + long[:63] + "...", "a", twice},
		"a long key that appears twice is cut":      {fmt.Sprintf(`{%q:1,%[1]q:2}`, long), "o", long[:63] + "...", twice},
		"64 levels are accepted":                    {manifest: nested(64)},
		"65 levels are refused":                     {nested(65), "o.spec" + strings.Repeat("[0]", 63), "", "must not have more than 64 levels"},
	} {
		t.Run(sentence, func(t *testing.T) {
			wrong := CheckKeys([]byte(test.manifest), "o")
			if wrong == nil {
				wrong = &Error{}
			}
			got, want := fmt.Sprintf("%s %q %s", wrong.In, wrong.Value, wrong.Detail), fmt.Sprintf("%s %q %s", test.at, test.key, test.want)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestKnownKeysOfMetadataAreThoseOfKubernetes(t *testing.T) {
	var want []string
	meta := reflect.TypeFor[metav1.ObjectMeta]()
	for field := range meta.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		want = append(want, name)
	}
	got := metadataKeys()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the known keys of metadata are %q, want %q", got, want)
	}
}
