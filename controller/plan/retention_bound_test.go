// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"

	"statefulset.dev/identity"
)

// TestAPlanDatesAndDeletesSoManyObjects has more objects of removed members than one plan sees to.
func TestAPlanDatesAndDeletesSoManyObjects(t *testing.T) {
	for sentence, test := range map[string]struct {
		dated, back, forgotten bool
		marks, deletes         int
	}{
		"that were removed just now":   {marks: mostChanged},
		"that are all due":             {dated: true, deletes: mostReclaimed},
		"that the status tells not of": {dated: true, forgotten: true, marks: mostChanged},
		"that come back":               {dated: true, back: true, marks: mostChanged},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := newHost(t, Compute)
			h.configure([]string{"replicas=0", "objects=conf", "retention=Delete:20"})
			objects, wrong := identity.OverridesOf(h.set).Objects()
			if wrong != nil {
				t.Fatal(wrong)
			}
			for ordinal := range mostChanged + 100 {
				made, wrong := objects[0].Make(ordinal)
				if wrong != nil {
					t.Fatal(wrong)
				}
				h.writes++
				s := &Simulated{Set: h.set}
				h.objects[objects[0].Key(ordinal)] = s.object(made, Target{Name: made.GetName(), UID: "u"}, h.writes)
			}
			h.set.Status = Compute(h.world()).Status
			for ordinal := range mostChanged + 100 {
				if test.dated {
					h.retentionCommand("date", []string{fmt.Sprintf("ConfigMap/web-%d-conf", ordinal)})
				}
			}
			if test.forgotten {
				h.retentionCommand("forget", nil)
			}
			if test.back {
				h.configure([]string{"replicas=2000"})
			}
			marks, deletes := 0, 0
			for _, action := range Compute(h.world()).All() {
				switch action.(type) {
				case MarkObject:
					marks++
				case DeleteObject:
					deletes++
				}
			}
			if marks != test.marks || deletes != test.deletes {
				t.Errorf("the plan marks %d objects and deletes %d, want %d and %d", marks, deletes, test.marks, test.deletes)
			}
		})
	}
}
