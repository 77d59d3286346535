// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"strings"
	"testing"
)

func TestRenamedChangesOnlyTheWantedPlaces(t *testing.T) {
	for sentence, c := range map[string]struct{ document, want string }{
		"the version of an object": {
			`{"kind":"StatefulSet","apiVersion":"apps.statefulset.dev/v1"}`,
			`{"kind":"StatefulSet","apiVersion":"apps/v1"}`,
		},
		"spaces, the order of keys and unknown fields stay": {
			"{\n  \"zebra\": [1, {\"a\":null}],\n  \"apiVersion\" :\t\"apps.statefulset.dev/v1\" ,\"ant\":\"\\u00e9\"\n}\n",
			"{\n  \"zebra\": [1, {\"a\":null}],\n  \"apiVersion\" :\t\"apps/v1\" ,\"ant\":\"\\u00e9\"\n}\n",
		},
		"numbers keep their digits": {
			`{"apiVersion":"apps.statefulset.dev/v1","large":9223372036854775807,"exact":0.10,"wide":1e400}`,
			`{"apiVersion":"apps/v1","large":9223372036854775807,"exact":0.10,"wide":1e400}`,
		},
		"an escaped slash is the same string": {
			`{"apiVersion":"apps.statefulset.dev\/v1"}`,
			`{"apiVersion":"apps/v1"}`,
		},
		"the same text elsewhere is somebody's data": {
			`{"metadata":{"annotations":{"apiVersion":"apps.statefulset.dev/v1","last":"{\"apiVersion\":\"apps.statefulset.dev/v1\"}"},"managedFields":[{"apiVersion":"apps.statefulset.dev/v1"}]},"apiVersion":"apps.statefulset.dev/v1"}`,
			`{"metadata":{"annotations":{"apiVersion":"apps.statefulset.dev/v1","last":"{\"apiVersion\":\"apps.statefulset.dev/v1\"}"},"managedFields":[{"apiVersion":"apps.statefulset.dev/v1"}]},"apiVersion":"apps/v1"}`,
		},
		"another version is left alone": {
			`{"apiVersion":"autoscaling/v1","kind":"Scale"}`,
			`{"apiVersion":"autoscaling/v1","kind":"Scale"}`,
		},
		"the items of a list": {
			`{"apiVersion":"apps.statefulset.dev/v1","items":[{"apiVersion":"apps.statefulset.dev/v1"},{},{"apiVersion":"v1"}]}`,
			`{"apiVersion":"apps/v1","items":[{"apiVersion":"apps/v1"},{},{"apiVersion":"v1"}]}`,
		},
		"the objects in the rows of a table": {
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":["apps.statefulset.dev/v1"],"object":{"apiVersion":"apps.statefulset.dev/v1"}}]}`,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":["apps.statefulset.dev/v1"],"object":{"apiVersion":"apps/v1"}}]}`,
		},
		"places of another shape": {
			`{"apiVersion":["apps.statefulset.dev/v1"],"items":{"apiVersion":"apps.statefulset.dev/v1"},"rows":null}`,
			`{"apiVersion":["apps.statefulset.dev/v1"],"items":{"apiVersion":"apps.statefulset.dev/v1"},"rows":null}`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := documentAsBuiltIn([]byte(c.document))
			if err != nil || string(got) != c.want {
				t.Errorf("got\n%s, %v\nwant\n%s", got, err, c.want)
			}
		})
	}
}

func TestRenamedRefusesWhatIsNoJSON(t *testing.T) {
	for sentence, document := range map[string]string{
		"nothing":                     "",
		"text":                        "service unavailable\n",
		"an object that breaks off":   `{"apiVersion":"apps.statefulset.dev/v1"`,
		"a string that breaks off":    `{"apiVersion":"apps.stat`,
		"a skipped part that is none": `{"spec":{"replicas":01},"apiVersion":"apps.statefulset.dev/v1"}`,
		"two documents":               `{"apiVersion":"v1"}{"apiVersion":"v1"}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, err := documentAsBuiltIn([]byte(document)); err == nil || !strings.HasPrefix(err.Error(), "invalid JSON: ") {
				t.Errorf("got %q, %v, want an error about invalid JSON", got, err)
			}
		})
	}
}

func TestBodiesReachOurGroup(t *testing.T) {
	for sentence, c := range map[string]struct{ contentType, body, want string }{
		"a new object": {
			"application/json", `{"apiVersion":"apps/v1","kind":"StatefulSet"}`, `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet"}`},
		"options of a deletion": {"application/json; charset=utf-8", `{"kind":"DeleteOptions","apiVersion":"apps/v1"}`,
			`{"kind":"DeleteOptions","apiVersion":"apps.statefulset.dev/v1"}`},
		"a scale": {
			"application/json", `{"apiVersion":"autoscaling/v1","kind":"Scale"}`, `{"apiVersion":"autoscaling/v1","kind":"Scale"}`},
		"a strategic merge patch": {"application/strategic-merge-patch+json", `{"spec":{"template":{"$patch":"replace","apiVersion":"apps/v1"}}}`,
			`{"spec":{"template":{"$patch":"replace","apiVersion":"apps/v1"}}}`},
		"a merge patch": {
			"application/merge-patch+json", `{"apiVersion":"apps/v1","spec":null}`, `{"apiVersion":"apps.statefulset.dev/v1","spec":null}`},
		"a test of the version": {
			"application/json-patch+json", `[{"op":"test","path":"/apiVersion","value":"apps/v1"},{"op":"add","path":"/spec/x","value":"apps/v1"}]`,
			`[{"op":"test","path":"/apiVersion","value":"apps.statefulset.dev/v1"},{"op":"add","path":"/spec/x","value":"apps/v1"}]`},
		"a test of all": {"application/json-patch+json", `[{"op":"test","path":"","value":{"apiVersion":"apps/v1"}}]`,
			`[{"op":"test","path":"","value":{"apiVersion":"apps.statefulset.dev/v1"}}]`},
		"applied JSON": {"application/apply-patch+yaml", `{"apiVersion":"apps/v1","kind":"StatefulSet"}`,
			`{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet"}`},
		"applied YAML": {"application/apply-patch+yaml", "apiVersion: apps/v1\nkind: StatefulSet\n",
			`{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet"}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := bodyForOurs(c.contentType, []byte(c.body))
			if err != nil || string(got) != c.want {
				t.Errorf("got\n%s, %v\nwant\n%s", got, err, c.want)
			}
		})
	}
}

func TestBodiesThatAreNotJSONAreRefused(t *testing.T) {
	for contentType, want := range map[string]string{
		"application/vnd.kubernetes.protobuf": "only JSON",
		"application/cbor":                    "only JSON",
		"":                                    "content type",
		"application/json":                    "invalid JSON",
		"application/json-patch+json":         "reading a JSON patch",
		"application/apply-patch+yaml":        "reading the configuration to apply",
	} {
		t.Run(contentType, func(t *testing.T) {
			if got, err := bodyForOurs(contentType, []byte("k8s\x00: [")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, %v, want an error that contains %q", got, err, want)
			}
		})
	}
}
