// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
)

// The seeds are small sets of both encodings, and texts that have broken other
// decoders. What the fuzzer adds to them is kept in its cache.

func seedTexts() []string {
	return []string{
		`{}`,
		`{"metadata":{"name":"web","namespace":"default","creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"100m"}}}]}},"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`,
		`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2,"maxUnavailable":"30%"}},"ordinals":{"start":7},"minReadySeconds":5,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}},"status":{"replicas":1,"conditions":[{"type":"Ready","status":"False"}]}}`,
		`{"spec":{"template":{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":"http"}},"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}],"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]}}}}`,
		`{"metadata":{"managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{}}}],"ownerReferences":[{"uid":"1"}],"finalizers":["a/b"]}}`,
	}
}

// seedMessages are the same sets as protobuf.
func seedMessages(tb testing.TB) [][]byte {
	tb.Helper()
	messages := [][]byte{nil, {0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, {0x12, 0x02, 0x08, 0x80}}
	for _, text := range seedTexts() {
		var set StatefulSet
		if err := json.Unmarshal([]byte(text), &set); err != nil {
			tb.Fatalf("decoding a seed: %v: %s", err, text)
		}
		message, err := set.Marshal()
		if err != nil {
			tb.Fatalf("encoding a seed: %v", err)
		}
		messages = append(messages, message)
	}
	return messages
}

// FuzzJSON: what can be read as JSON can be written, as JSON and as protobuf, and
// reads the same afterwards. The first reading may drop what no set can hold, such
// as parts of a second; after it nothing changes any more.
func FuzzJSON(f *testing.F) {
	for _, text := range seedTexts() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var set StatefulSet
		if json.Unmarshal(text, &set) != nil {
			return
		}
		first := toJSON(t, &set)
		var again StatefulSet
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("reading what was written: %v: %s", err, first)
		}
		if second := toJSON(t, &again); !bytes.Equal(first, second) {
			t.Fatalf("JSON after two trips:\n got %s\nwant %s", second, first)
		}
		throughProtobuf(t, &again)
	})
}

// FuzzProtobuf: the same for what can be read as protobuf.
func FuzzProtobuf(f *testing.F) {
	for _, message := range seedMessages(f) {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		var set StatefulSet
		if set.Unmarshal(message) != nil {
			return
		}
		throughProtobuf(t, &set)
	})
}

// throughProtobuf writes and reads a set twice.
func throughProtobuf(t *testing.T, set *StatefulSet) {
	t.Helper()
	first, err := set.Marshal()
	if err != nil {
		t.Fatalf("writing protobuf: %v", err)
	}
	var again StatefulSet
	if err := again.Unmarshal(first); err != nil {
		t.Fatalf("reading what was written: %v: %x", err, first)
	}
	second, err := again.Marshal()
	if err != nil {
		t.Fatalf("writing protobuf again: %v", err)
	}
	if !bytes.Equal(first, second) {
		t.Fatalf("protobuf after two trips:\n got %x\nwant %x", second, first)
	}
}

// FuzzDefaults: filling in defaults a second time changes nothing, and a copy has
// the same defaults as its original.
func FuzzDefaults(f *testing.F) {
	for _, message := range seedMessages(f) {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		var set StatefulSet
		if set.Unmarshal(message) != nil {
			return
		}
		other := set.DeepCopy()
		SetObjectDefaults_StatefulSet(&set)
		SetObjectDefaults_StatefulSet(other)
		if !equality.Semantic.DeepEqual(&set, other) {
			t.Fatalf("defaults of a copy:\n got %+v\nwant %+v", other, &set)
		}
		SetObjectDefaults_StatefulSet(&set)
		if !equality.Semantic.DeepEqual(&set, other) {
			t.Fatalf("defaults filled in twice:\n got %+v\nwant %+v", &set, other)
		}
	})
}
