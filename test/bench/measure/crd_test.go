// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const openAPI = `{"components":{"schemas":{
  "x.Set": {"type":"object","description":"d","properties":{
    "metadata":{"allOf":[{"$ref":"#/components/schemas/x.Meta"}],"default":{}},
    "spec":{"allOf":[{"$ref":"#/components/schemas/x.Spec"}],"default":{}}}},
  "x.Meta": {"type":"object","properties":{"name":{"type":"string"}}},
  "x.Spec": {"type":"object","required":["port"],"properties":{
    "port":{"$ref":"#/components/schemas/x.IntOrString"},
    "size":{"allOf":[{"$ref":"#/components/schemas/x.Quantity"}]},
    "names":{"type":"array","x-kubernetes-list-type":"set","x-kubernetes-patch-strategy":"merge","items":{"type":"string","default":""}},
    "phase":{"type":"string","default":"","enum":["Bound","Lost"]},
    "protocol":{"type":"string","default":"TCP"},
    "labels":{"type":"object","additionalProperties":{"type":"string","default":""}}}},
  "x.IntOrString": {"type":"string","format":"int-or-string"},
  "x.Quantity": {"oneOf":[{"type":"string"},{"type":"number"}]}
}}}`

func TestCustomResource(t *testing.T) {
	sets := schema.GroupVersionResource{Group: "example.test", Version: "v1", Resource: "sets"}
	raw, err := CustomResource([]byte(openAPI), "x.Set", sets)
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Metadata struct{ Name string }
		Spec     struct {
			Names    map[string]string
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &definition); err != nil {
		t.Fatal(err)
	}
	if got, want := definition.Metadata.Name, "sets.example.test"; got != want {
		t.Errorf("name: got %q, want %q", got, want)
	}
	if got, want := definition.Spec.Names["listKind"], "SetList"; got != want {
		t.Errorf("kind of lists: got %q, want %q", got, want)
	}
	const want = `{"properties":{"metadata":{"type":"object"},"spec":{"properties":{` +
		`"labels":{"additionalProperties":{"default":"","type":"string"},"type":"object"},` +
		`"names":{"items":{"default":"","type":"string"},"type":"array","x-kubernetes-list-type":"set"},` +
		`"phase":{"enum":["Bound","Lost"],"type":"string"},"port":{"x-kubernetes-int-or-string":true},"protocol":{"default":"TCP","type":"string"},"size":{"x-kubernetes-int-or-string":true}},` +
		`"required":["port"],"type":"object"}},"type":"object"}`
	if got := string(definition.Spec.Versions[0].Schema.OpenAPIV3Schema); got != want {
		t.Errorf("schema: got\n%s\nwant\n%s", got, want)
	}
}

func TestCustomResourceOfAnUnknownKind(t *testing.T) {
	_, err := CustomResource([]byte(openAPI), "x.Nothing", schema.GroupVersionResource{})
	if err == nil || !strings.Contains(err.Error(), "x.Nothing") {
		t.Errorf("got error %v, want one that names x.Nothing", err)
	}
}
