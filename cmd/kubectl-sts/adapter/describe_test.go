// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func recordedSet(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	document, err := os.ReadFile("testdata/set.json")
	if err != nil {
		t.Fatalf("reading a recorded set: %v", err)
	}
	set := &unstructured.Unstructured{}
	if err := set.UnmarshalJSON(document); err != nil {
		t.Fatalf("reading a recorded set: %v", err)
	}
	return set
}

func TestDescriptionShowsWhatOnlyOursHave(t *testing.T) {
	set := recordedSet(t)
	if err := unstructured.SetNestedField(set.Object, int64(5), "spec", "progressDeadlineSeconds"); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := describeOwn(&text, set); err != nil {
		t.Fatalf("describing: %v", err)
	}
	for _, want := range []string{
		"Conditions:\n  Type ", "\n  Ready ", "Fields that apps/v1 does not have:\n  spec:\n    progressDeadlineSeconds: 5\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("got\n%s\nwant it to contain %q", text.String(), want)
		}
	}
}

func TestUnknownFieldsAreThoseThatAppsV1Loses(t *testing.T) {
	for sentence, c := range map[string]struct{ set, want string }{
		"none":                           {`{"spec":{"replicas":3},"status":{"replicas":3}}`, `{}`},
		"one of the spec":                {`{"spec":{"replicas":3,"hold":true}}`, `{"spec":{"hold":true}}`},
		"one in a part that apps/v1 has": {`{"spec":{"ordinals":{"start":1,"reserved":[2]}}}`, `{"spec":{"ordinals":{"reserved":[2]}}}`},
		"one in an element of a list": {
			`{"spec":{"volumeClaimTemplates":[{"new":"x","metadata":{"name":"data"}}]}}`, `{"spec":{"volumeClaimTemplates":[{"new":"x"}]}}`},
		"not those that say nothing":      {`{"spec":{"hold":false,"list":[],"text":"","none":null,"number":0,"part":{}}}`, `{}`},
		"not the conditions, shown above": {`{"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":4}]}}`, `{}`},
		"nothing at all":                  {`{}`, `{}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := &unstructured.Unstructured{}
			document := strings.Replace(c.set, "{", `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet",`, 1)
			if err := set.UnmarshalJSON([]byte(strings.Replace(document, ",}", "}", 1))); err != nil {
				t.Fatalf("reading the case: %v", err)
			}
			got, err := unknownToBuiltIn(set.Object)
			if err != nil {
				t.Fatalf("comparing: %v", err)
			}
			if found, err := json.Marshal(got); err != nil || !equalJSON(t, string(found), c.want) {
				t.Errorf("got %s, %v, want %s", found, err, c.want)
			}
		})
	}
}

func equalJSON(t *testing.T, documents ...string) bool {
	t.Helper()
	values := make([]any, len(documents))
	for i, document := range documents {
		if err := json.Unmarshal([]byte(document), &values[i]); err != nil {
			t.Fatalf("reading %s: %v", document, err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
