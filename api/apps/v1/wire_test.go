// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

const (
	// rounds is how many random sets are tried; each fills other fields.
	rounds = 200
	seed   = 1
)

// A set of apps/v1, whatever is in it, comes back from us as it went in. It is
// the promise that a user can change the apiVersion, and change it back.

func TestNoFieldOfAppsIsLostInJSON(t *testing.T) {
	filler := newFiller()
	for range rounds {
		var in appsv1.StatefulSet
		filler.Fill(&in)
		sent := toJSON(t, &in)
		var ours StatefulSet
		fromJSON(t, sent, &ours)
		returned := toJSON(t, &ours)
		if !bytes.Equal(canonical(t, sent), canonical(t, returned)) {
			t.Fatalf("JSON:\n got %s\nwant %s", canonical(t, returned), canonical(t, sent))
		}
		var out appsv1.StatefulSet
		fromJSON(t, returned, &out)
		if !equality.Semantic.DeepEqual(in, out) {
			t.Fatalf("set:\n got %+v\nwant %+v", out, in)
		}
	}
}

func TestNoFieldOfAppsIsLostInProtobuf(t *testing.T) {
	filler := newFiller()
	for range rounds {
		var in appsv1.StatefulSet
		filler.Fill(&in)
		sent, err := in.Marshal()
		if err != nil {
			t.Fatalf("encoding: %v", err)
		}
		var ours StatefulSet
		if err := ours.Unmarshal(sent); err != nil {
			t.Fatalf("decoding as ours: %v", err)
		}
		returned, err := ours.Marshal()
		if err != nil {
			t.Fatalf("encoding ours: %v", err)
		}
		if !bytes.Equal(sent, returned) {
			var out appsv1.StatefulSet
			if err := out.Unmarshal(returned); err != nil {
				t.Fatalf("decoding: %v", err)
			}
			t.Fatalf("protobuf differs:\n got %+v\nwant %+v", out, in)
		}
	}
}

// newFiller fills every field with something that its type can hold; the few
// custom ones have invariants that random bits break.
func newFiller() *randfill.Filler {
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.1).NumElements(1, 2).MaxDepth(30).Funcs(
		func(in *intstr.IntOrString, c randfill.Continue) {
			if c.Bool() {
				*in = intstr.FromInt32(c.Int31())
			} else {
				*in = intstr.FromString(c.String(0))
			}
		},
		func(in *resource.Quantity, c randfill.Continue) {
			*in = resource.MustParse(fmt.Sprintf("%dMi", 1+c.Intn(999)))
		},
		func(in *metav1.Time, c randfill.Continue) { *in = metav1.Unix(c.Int63n(1<<32), 0) },
		func(in *metav1.MicroTime, c randfill.Continue) {
			*in = metav1.NewMicroTime(metav1.Unix(c.Int63n(1<<32), 0).Time)
		},
		func(in *metav1.FieldsV1, _ randfill.Continue) { in.SetRawString(`{"f:spec":{}}`) },
		func(in *metav1.TypeMeta, _ randfill.Continue) {}, // protobuf carries it outside the object
		func(in *corev1.ResourceList, c randfill.Continue) {
			*in = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dm", 1+c.Intn(999)))}
		},
	)
}

func toJSON(t *testing.T, obj any) []byte {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatalf("encoding %T: %v", obj, err)
	}
	return text
}

func fromJSON(t *testing.T, text []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("decoding %T: %v: %s", into, err, text)
	}
}

// canonical sorts the keys of JSON.
func canonical(t *testing.T, text []byte) []byte {
	t.Helper()
	var value any
	fromJSON(t, text, &value)
	return toJSON(t, value)
}
