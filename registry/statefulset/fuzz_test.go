// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// FuzzCreate: any set that can be decoded is accepted or refused, without a crash and
// without a change by validation. What is accepted can be written and read in every
// encoding, shown as a row and as a Scale, and is accepted again as an update of
// itself.
func FuzzCreate(f *testing.F) {
	f.Add(protobufOf(f, settest.Valid()))
	f.Add(protobufOf(f, &v1.StatefulSet{}))
	strategy, ctx := fuzzedStrategy(f)
	f.Fuzz(func(t *testing.T, message []byte) {
		var set v1.StatefulSet
		if set.Unmarshal(message) != nil || len(ValidateText(&set)) > 0 {
			return
		}
		set.Namespace = metav1.NamespaceDefault
		v1.SetObjectDefaults_StatefulSet(&set)
		before := set.DeepCopy()
		strategy.Validate(ctx, &set)
		strategy.WarningsOnCreate(ctx, &set)
		if !equality.Semantic.DeepEqual(before, &set) {
			t.Fatalf("the set after validation:\n got %+v\nwant %+v", &set, before)
		}
		if rest.BeforeCreate(strategy, ctx, &set) != nil {
			return
		}
		set.UID, set.ResourceVersion = types.UID("1"), "1"
		survivesEncoding(t, &set)
		if _, err := (tableConvertor{}).ConvertToTable(ctx, &set, nil); err != nil {
			t.Fatalf("showing an accepted set as a row: %v", err)
		}
		if _, err := scaleOf(&set); err != nil {
			t.Fatalf("showing an accepted set as a Scale: %v", err)
		}
		if err := rest.BeforeUpdate(strategy, ctx, set.DeepCopy(), &set); err != nil {
			t.Fatalf("an update of an accepted set that changes nothing: got %v, want it accepted: %+v", err, &set)
		}
	})
}

// FuzzUpdate: the same for a change of a stored set.
func FuzzUpdate(f *testing.F) {
	f.Add(protobufOf(f, settest.Valid()))
	f.Add(protobufOf(f, settest.Changed(func(set *v1.StatefulSet) { set.Spec.Replicas, set.Spec.Template.Labels["b"] = nil, "c" })))
	strategy, ctx := fuzzedStrategy(f)
	stored := settest.Valid()
	stored.UID, stored.ResourceVersion, stored.Generation = types.UID("1"), "1", 1
	f.Fuzz(func(t *testing.T, message []byte) {
		var set v1.StatefulSet
		if set.Unmarshal(message) != nil || len(ValidateText(&set)) > 0 {
			return
		}
		set.Name, set.Namespace, set.UID, set.ResourceVersion = stored.Name, stored.Namespace, stored.UID, stored.ResourceVersion
		v1.SetObjectDefaults_StatefulSet(&set)
		old := stored.DeepCopy()
		status := set.DeepCopy()
		if rest.BeforeUpdate(strategy, ctx, &set, old) == nil {
			survivesEncoding(t, &set)
		}
		if rest.BeforeUpdate(statusStrategy{strategy}, ctx, status, old) == nil {
			survivesEncoding(t, status)
		}
		if !equality.Semantic.DeepEqual(old, stored) {
			t.Fatalf("the stored set after an update of it:\n got %+v\nwant %+v", old, stored)
		}
	})
}

func fuzzedStrategy(f *testing.F) (strategy, context.Context) {
	f.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		f.Fatalf("registering the API: %v", err)
	}
	ctx := genericrequest.WithNamespace(context.Background(), metav1.NamespaceDefault)
	return newStrategy(scheme, nil, nil), genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true, APIGroup: v1.GroupName, APIVersion: "v1", Resource: "statefulsets", Namespace: metav1.NamespaceDefault,
	})
}

func protobufOf(tb testing.TB, set *v1.StatefulSet) []byte {
	tb.Helper()
	message, err := set.Marshal()
	if err != nil {
		tb.Fatalf("encoding a set: %v", err)
	}
	return message
}

// survivesEncoding: a set that was accepted must be readable by every client.
func survivesEncoding(t *testing.T, set *v1.StatefulSet) {
	t.Helper()
	var fromJSON, fromProtobuf v1.StatefulSet
	text, err := json.Marshal(set)
	if err == nil {
		err = json.Unmarshal(text, &fromJSON)
	}
	if err != nil {
		t.Fatalf("writing and reading an accepted set as JSON: %v: %s", err, text)
	}
	message := protobufOf(t, set)
	if err := fromProtobuf.Unmarshal(message); err != nil {
		t.Fatalf("writing and reading an accepted set as protobuf: %v: %x", err, message)
	}
	v1.SetObjectDefaults_StatefulSet(&fromProtobuf)
	v1.SetObjectDefaults_StatefulSet(&fromJSON)
	if !equality.Semantic.DeepEqual(&fromProtobuf, &fromJSON) {
		t.Fatalf("an accepted set, read as JSON and as protobuf:\nJSON     %+v\nprotobuf %+v", &fromJSON, &fromProtobuf)
	}
}
