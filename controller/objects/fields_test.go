// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func entry(of metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: identity.ObjectManager, Operation: of, APIVersion: "v1",
		Time: &metav1.Time{Time: time.Unix(1, 0)}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestWhatIsDrawnStaysWithWhoDrewIt(t *testing.T) {
	posted := entry(metav1.ManagedFieldsOperationUpdate,
		`{"f:data":{".":{},"f:password":{}},"f:metadata":{"f:annotations":{".":{},"f:apps.statefulset.dev/generated":{},"f:apps.statefulset.dev/owner":{}},"f:labels":{".":{},"f:a":{}}},"f:type":{}}`)
	posted.Manager = GenerateManager
	live := &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{posted}}}
	patch, err := TakeOverPatch(live)
	if err != nil {
		t.Fatal(err)
	}
	var ops []struct {
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(patch, &ops); err != nil || len(ops) != 2 {
		t.Fatalf("the patch is %s: %v", patch, err)
	}
	if err := json.Unmarshal(ops[0].Value, &live.ManagedFields); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range live.ManagedFields {
		got[e.Manager+" "+string(e.Operation)] = e.FieldsV1.GetRawString()
	}
	want := map[string]string{
		"statefulset-apiserver-generate Update": `{"f:data":{".":{},"f:password":{}},"f:metadata":{"f:annotations":{"f:apps.statefulset.dev/generated":{}}}}`,
		"statefulset-apiserver Apply":           `{"f:metadata":{"f:annotations":{".":{},"f:apps.statefulset.dev/owner":{}},"f:labels":{".":{},"f:a":{}}},"f:type":{}}`,
	}
	for who, fields := range want {
		if got[who] != fields {
			t.Errorf("%s manages %s, want %s", who, got[who], fields)
		}
	}
	if again, err := TakeOverPatch(live); err != nil || again != nil {
		t.Errorf("the next patch is %s (%v), want none", again, err)
	}
}

func TestWhoHasChangedAnObjectIsTold(t *testing.T) {
	ours, theirs, status := entry(metav1.ManagedFieldsOperationApply, `{"f:data":{}}`),
		entry(metav1.ManagedFieldsOperationUpdate, `{"f:x":{}}`), entry(metav1.ManagedFieldsOperationUpdate, `{}`)
	theirs.Manager, theirs.Time = "kubectl-edit", &metav1.Time{Time: time.Unix(2, 0)}
	status.Manager, status.Subresource, status.Time = "kubelet", "status", &metav1.Time{Time: time.Unix(3, 0)}
	same := theirs
	same.Time = ours.Time
	earlier := theirs
	earlier.Time = &metav1.Time{Time: time.Unix(0, 0)}
	for sentence, test := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		later   bool
	}{
		"nobody, if all is ours":                         {[]metav1.ManagedFieldsEntry{ours}, false},
		"nobody, if others have written before":          {[]metav1.ManagedFieldsEntry{ours, earlier}, false},
		"nobody, by a status":                            {[]metav1.ManagedFieldsEntry{ours, status}, false},
		"who has written after us":                       {[]metav1.ManagedFieldsEntry{ours, earlier, theirs}, true},
		"who has written in the second in which we have": {[]metav1.ManagedFieldsEntry{ours, same}, true},
		"nobody, if nothing is ours":                     {[]metav1.ManagedFieldsEntry{theirs}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, by, later := managed(test.entries); later != test.later || later && by != "kubectl-edit" {
				t.Errorf("got %q, later %t, want later %t", by, later, test.later)
			}
		})
	}
}

func TestOfASecretOnlyItsKeysAreKept(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	secretTemplate := runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-auth"}}`)}
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{
		{Name: "auth", Object: secretTemplate, Generate: []v1.GeneratedKey{{Key: "password", Bytes: 24}, {Key: "token", Bytes: 64}}}}
	templates, wrong := identity.OverridesOf(set).Objects()
	if wrong != nil {
		t.Fatal(wrong)
	}
	secret := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"password": "Y2FuYXJ5", "other": "eA=="}}}
	got := OutputsFrom(templates[0], secret)
	if len(got) != 2 || got["password"].Missing != "" || got["password"].Value != "" || got["token"].Missing != plan.LacksKey {
		t.Errorf("the Secret gives %+v, want that it has the key password, without what it holds, and no token", got)
	}
}
