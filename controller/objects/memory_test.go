// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestWhoHasChangedAnObject(t *testing.T) {
	ours := func(inputs, fields string, others ...metav1.ManagedFieldsEntry) *metav1.PartialObjectMetadata {
		applied := entry(metav1.ManagedFieldsOperationApply, fields)
		applied.Manager = identity.ObjectManager
		return &metav1.PartialObjectMetadata{
			ObjectMeta: metav1.ObjectMeta{UID: "conf", ResourceVersion: "2", Annotations: map[string]string{v1.ObjectInputsAnnotation: inputs},
				ManagedFields: append(others, applied)}}
	}
	mine := entry(metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:b":{}}}`)
	mine.Manager = "kubectl"
	for sentence, test := range map[string]struct {
		live    *metav1.PartialObjectMetadata
		drifted bool
	}{
		"nobody has": {ours("one", `{"f:data":{".":{},"f:a":{}}}`), false},
		"another controller applies what was created":    {ours("one", `{"f:data":{"f:a":{}}}`), false},
		"somebody has taken a field":                     {ours("one", `{"f:data":{}}`, mine), true},
		"another controller has made it of other inputs": {ours("two", `{"f:metadata":{"f:ownerReferences":{}}}`), false},
		"another controller has, and then somebody, too": {ours("two", `{"f:data":{}}`, mine), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			memory := &Memory{}
			created := ours("one", `{"f:data":{".":{},"f:a":{}}}`)
			created.ManagedFields[0].Operation = metav1.ManagedFieldsOperationUpdate
			memory.Created(schema.GroupKind{Kind: "ConfigMap"}, created)
			var shown plan.Object
			memory.detectDrift(track(test.live).(*tracked), &shown)
			if shown.Drifted != test.drifted {
				t.Errorf("changed by somebody: got %t (%s), want %t", shown.Drifted, shown.DriftedBy, test.drifted)
			}
		})
	}
}

func TestSecretsThatAreGoneAreSoughtNowAndThen(t *testing.T) {
	memory, now := &Memory{}, time.Unix(1000, 0)
	var lost []identity.ObjectKey
	for i := range mostSought + 10 {
		lost = append(lost, identity.ObjectKey{Kind: "Secret", Name: fmt.Sprintf("web-%d-auth", i)})
	}
	memory.SearchLost(lost, now)
	if got := len(memory.nameConflicts); got != mostSought || memory.NextSync() == 0 {
		t.Errorf("%d Secrets are sought, and the next look is in %s, want %d and some time", got, memory.NextSync(), mostSought)
	}
	memory.nameConflicts = nil // none was found
	memory.SearchLost(lost, now.Add(time.Second))
	if got := len(memory.nameConflicts); got != 0 || memory.NextSync() == 0 {
		t.Errorf("a second later, %d Secrets are sought, and the next look is in %s, want none and some time", got, memory.NextSync())
	}
	memory.SearchLost(lost, now.Add(recheckInterval))
	if got := len(memory.nameConflicts); got != mostSought {
		t.Errorf("after a while %d Secrets are sought, want %d", got, mostSought)
	}
	memory.nameConflicts = nil
	memory.SearchLost(nil, now.Add(time.Hour))
	if next := memory.NextSync(); next != 0 {
		t.Errorf("when none is gone, the next look is in %s, want never", next)
	}
}

// TestWhatWasDeletedIsRememberedUntilItIsNotSeen has a cache that is behind, and one that shows nothing for
// a while.
func TestWhatWasDeletedIsRememberedUntilItIsNotSeen(t *testing.T) {
	memory, configMaps := &Memory{}, schema.GroupKind{Kind: "ConfigMap"}
	memory.Deleted(configMaps, "u")
	look := func(kindKnown, there bool) (terminates bool) {
		world := &plan.World{Now: time.Unix(1, 0), Kinds: map[schema.GroupKind]plan.Kind{configMaps: {Known: kindKnown}},
			Objects: map[identity.ObjectKey]*plan.Object{}}
		object := &plan.Object{ObjectMeta: metav1.ObjectMeta{UID: "u"}}
		if there {
			world.Objects[identity.ObjectKey{Kind: "ConfigMap", Name: "web-3-conf"}] = object
		}
		memory.markDeleted(world)
		return object.DeletionTimestamp != nil
	}
	for _, step := range []struct {
		sentence               string
		kindKnown, there, want bool
	}{
		{"the cache is behind", true, true, true},
		{"the kind is not known for a while", false, false, false},
		{"the cache is behind again", true, true, true},
		{"it is gone", true, false, false},
		{"an object of the same UID would not be taken for it", true, true, false},
	} {
		if got := look(step.kindKnown, step.there); got != step.want {
			t.Errorf("%s: terminates %t, want %t", step.sentence, got, step.want)
		}
	}
}
