// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"fmt"
	"mime"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
)

// bodyForOurs translates the body of a request of a client of apps/v1.
func bodyForOurs(contentType string, body []byte) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, fmt.Errorf("parsing the content type %q of the body: %w", contentType, err)
	}
	switch kind {
	case jsonType, string(types.MergePatchType), string(types.StrategicMergePatchType):
		return renamed(body, places{{"apiVersion"}}, appsv1.SchemeGroupVersion.String(), v1.SchemeGroupVersion.String())
	case string(types.ApplyYAMLPatchType):
		document, err := yaml.YAMLToJSON(body)
		if err != nil {
			return nil, fmt.Errorf("reading the configuration to apply: %w", err)
		}
		return bodyForOurs(jsonType, document)
	case string(types.JSONPatchType):
		return operationsForOurs(body)
	default:
		return nil, fmt.Errorf("cannot adapt a body of type %s, only JSON", kind)
	}
}

// operationsForOurs translates the operations of a JSON patch that concern the version, which are
// usually tests.
func operationsForOurs(patch []byte) ([]byte, error) {
	var operations []json.RawMessage
	if err := json.Unmarshal(patch, &operations); err != nil {
		return nil, fmt.Errorf("reading a JSON patch: %w", err)
	}
	for i, operation := range operations {
		var target struct{ Path string }
		if err := json.Unmarshal(operation, &target); err != nil {
			return nil, fmt.Errorf("reading operation %d of a JSON patch: %w", i, err)
		}
		place := place{"value", "apiVersion"}
		switch target.Path {
		case "":
		case "/apiVersion":
			place = place[:1]
		default:
			continue
		}
		translated, err := renamed(operation, places{place}, appsv1.SchemeGroupVersion.String(), v1.SchemeGroupVersion.String())
		if err != nil {
			return nil, err
		}
		operations[i] = translated
	}
	translated, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("writing a JSON patch: %w", err)
	}
	return translated, nil
}

// documentAsBuiltIn translates an answer: an object, a list, or a table whose rows contain objects.
func documentAsBuiltIn(document []byte) ([]byte, error) {
	return renamed(document, places{
		{"apiVersion"},
		{"items", each, "apiVersion"},
		{"rows", each, "object", "apiVersion"},
	}, v1.SchemeGroupVersion.String(), appsv1.SchemeGroupVersion.String())
}

// eventAsBuiltIn translates one event of a watch.
func eventAsBuiltIn(event []byte) ([]byte, error) {
	return renamed(event, places{
		{"object", "apiVersion"},
		{"object", "rows", each, "object", "apiVersion"},
	}, v1.SchemeGroupVersion.String(), appsv1.SchemeGroupVersion.String())
}
