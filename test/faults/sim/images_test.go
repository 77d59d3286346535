// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// The rules tell by the image of a pod what it was made of.
func TestWhatPodsAreMadeOfHasAnImageOfItsOwn(t *testing.T) {
	encode := func(object any) []byte {
		t.Helper()
		wire, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return wire
	}
	for _, s := range everything() {
		wire, madeOf := encode(s.Set), map[string]string{}
		for _, step := range s.Steps {
			if patch, is := step.(scenarios.Patch); is {
				var err error
				if wire, err = jsonpatch.MergePatch(wire, []byte(patch)); err != nil {
					t.Fatalf("%s: %v", s.Name, err)
				}
			}
			var set v1.StatefulSet
			if err := json.Unmarshal(wire, &set); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			image := imageOf(set.Spec.Template.Spec)
			now := string(encode(set.Spec.Template)) + " with the identity " + string(encode(set.Spec.Identity))
			if before, known := madeOf[image]; known && before != now {
				t.Errorf("%s: of the image %s is\n%s\nand\n%s", s.Name, image, before, now)
			}
			madeOf[image] = now
		}
	}
}
