// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	v1 "statefulset.dev/api/apps/v1"
)

// TestAStrategicMergePatchReplacesTheObjectOfATemplate: the manifest is of a kind that nobody here
// knows, so that there is nothing by which its lists could be merged.
func TestAStrategicMergePatchReplacesTheObjectOfATemplate(t *testing.T) {
	const (
		stored = `{"spec":{"objectTemplates":[
			{"name":"a","object":{"kind":"ConfigMap","data":{"old":"1"}}},
			{"name":"b","object":{"kind":"Service"}}]}}`
		patch = `{"spec":{"objectTemplates":[{"name":"a","object":{"kind":"ConfigMap","data":{"new":"2"}}}]}}`
	)
	patched, err := strategicpatch.StrategicMergePatch([]byte(stored), []byte(patch), v1.StatefulSet{})
	if err != nil {
		t.Fatalf("patching: %v", err)
	}
	var got v1.StatefulSet
	if err := json.Unmarshal(patched, &got); err != nil {
		t.Fatalf("reading what was patched: %v", err)
	}
	want := map[string]string{"a": `{"data":{"new":"2"},"kind":"ConfigMap"}`, "b": `{"kind":"Service"}`}
	for _, template := range got.Spec.ObjectTemplates {
		if object := string(template.Object.Raw); object != want[template.Name] {
			t.Errorf("template %s: got %s, want %s", template.Name, object, want[template.Name])
		}
		delete(want, template.Name)
	}
	if len(want) > 0 {
		t.Errorf("got no templates for %v", want)
	}
}
