// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"bytes"
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/scheme"
	"statefulset.dev/apiserver/servertest"
)

// FuzzDecode: a body in any encoding is decoded or refused, whether unknown fields are
// to be refused or not; the strict decoder reads the same as the other. What was
// decoded can be sent in every encoding, and does not change by that.
func FuzzDecode(f *testing.F) {
	const head = `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet",`
	for _, text := range []string{
		head + `"metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}}}}`,
		head + `"spec":{"replicas":1,"replicas":2,"servieName":"x"}}`,
		"apiVersion: apps.statefulset.dev/v1\nkind: StatefulSet\nmetadata: {name: &a web, namespace: *a}\n",
		"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
		"{\"a\":[[[[[[[[[[]]]]]]]]]]}", "\xff\xfe", "null", "---\n", `{"apiVersion":"v1","kind":"Status"}`,
		`{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":-1}}`,
	} {
		f.Add([]byte(text), byte(0))
		f.Add([]byte(text), byte(1))
	}
	codecs := serializer.NewCodecFactory(scheme.New(), serializer.EnableStrict)
	served := scheme.TextOnly(codecs)
	infos := codecs.SupportedMediaTypes()
	f.Add(servertest.Encoded(f, codecs, runtime.ContentTypeProtobuf, servertest.Web("web")), byte(2))
	f.Fuzz(func(t *testing.T, body []byte, encoding byte) {
		info := infos[int(encoding)%len(infos)]
		into := v1.SchemeGroupVersion
		obj, _, err := served.DecoderToVersion(info.Serializer, into).Decode(body, nil, nil)
		strict, _, strictErr := served.DecoderToVersion(info.StrictSerializer, into).Decode(body, nil, nil)
		if err != nil {
			if strictErr == nil {
				t.Fatalf("a body that is refused with %v is accepted by the strict decoder", err)
			}
			return
		}
		if strictErr != nil && !runtime.IsStrictDecodingError(strictErr) {
			t.Fatalf("strict decoding of a body that can be decoded: got %v, want an error about what is strict", strictErr)
		}
		set, ok := obj.(*v1.StatefulSet)
		if !ok {
			return
		}
		if strict != nil && !bytes.Equal(servertest.Encoded(t, codecs, runtime.ContentTypeProtobuf, set),
			servertest.Encoded(t, codecs, runtime.ContentTypeProtobuf, strict)) {
			t.Fatalf("strict decoding: got %+v, want %+v", strict, set)
		}
		staysTheSame(t, codecs, set)
	})
}

// staysTheSame sends a set through JSON and protobuf.
func staysTheSame(t *testing.T, codecs serializer.CodecFactory, set *v1.StatefulSet) {
	t.Helper()
	decoder := codecs.UniversalDecoder(v1.SchemeGroupVersion)
	for _, encoding := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		first := servertest.Encoded(t, codecs, encoding, set)
		again, _, err := decoder.Decode(first, nil, nil)
		if err != nil {
			t.Fatalf("reading what was written as %s: %v: %q", encoding, err, first)
		}
		second := servertest.Encoded(t, codecs, encoding, again)
		final, _, err := decoder.Decode(second, nil, nil)
		if err != nil {
			t.Fatalf("reading what was written twice as %s: %v: %q", encoding, err, second)
		}
		if third := servertest.Encoded(t, codecs, encoding, final); !bytes.Equal(second, third) {
			t.Fatalf("%s after three trips:\n got %q\nwant %q", encoding, third, second)
		}
	}
}

// FuzzPatch: any patch of a set gives a set or an error.
func FuzzPatch(f *testing.F) {
	for _, patch := range []string{
		`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"i"}],"$setElementOrder/containers":[{"name":"side"}]}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","$patch":"delete"}]}}}}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":null},"$retainKeys":["spec"]}`,
		`[{"op":"copy","from":"/spec","path":"/metadata/annotations/a"},{"op":"test","path":"/spec/replicas","value":3}]`,
		`[{"op":"move","from":"/spec/template","path":"/spec/template/spec"},{"op":"remove","path":"/spec/volumeClaimTemplates/-1"}]`,
		`[{"op":"add","path":"/spec/template/spec/containers/99999999999","value":{}}]`,
	} {
		f.Add([]byte(patch))
	}
	original, err := json.Marshal(servertest.Web("web"))
	if err != nil {
		f.Fatalf("encoding: %v", err)
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		if result, err := strategicpatch.StrategicMergePatch(original, patch, v1.StatefulSet{}); err == nil {
			becomesSetOrError(t, result)
		}
		if result, err := jsonpatch.MergePatch(original, patch); err == nil {
			becomesSetOrError(t, result)
		}
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil || len(operations) > 100 {
			return
		}
		if result, err := operations.Apply(original); err == nil {
			becomesSetOrError(t, result)
		}
	})
}

func becomesSetOrError(t *testing.T, text []byte) {
	t.Helper()
	var set v1.StatefulSet
	if json.Unmarshal(text, &set) != nil {
		return
	}
	v1.SetObjectDefaults_StatefulSet(&set)
	if _, err := set.Marshal(); err != nil {
		t.Fatalf("encoding a patched set: %v: %s", err, text)
	}
}
