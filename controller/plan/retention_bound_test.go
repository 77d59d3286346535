// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"statefulset.dev/controller/plan/action"
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
				h.objects[objects[0].Key(ordinal)] = s.object(made, action.Target{Name: made.GetName(), UID: "u"}, h.writes)
			}
			h.set.Status = Compute(h.world()).Status
			for ordinal := range mostChanged + 100 {
				if name := fmt.Sprintf("ConfigMap/web-%d-conf", ordinal); test.dated {
					h.retentionCommand("date", []string{name})
					h.changeObject(name, func(o *Object) { o.ManagedFields = retiredFields(h.now.Add(-time.Hour)) })
				}
			}
			if test.forgotten {
				h.retentionCommand("forget", nil)
			}
			if test.back {
				h.configure([]string{"replicas=2000"})
			}
			marks, deletes := 0, 0
			for _, act := range Compute(h.world()).All() {
				switch act.(type) {
				case action.MarkObject:
					marks++
				case action.DeleteObject:
					deletes++
				}
			}
			if marks != test.marks || deletes != test.deletes {
				t.Errorf("the plan marks %d objects and deletes %d, want %d and %d", marks, deletes, test.marks, test.deletes)
			}
		})
	}
}

// TestManyIdleMembersWithObjectsAreLeftAlone has an object and an output each, which are as the templates say.
func TestManyIdleMembersWithObjectsAreLeftAlone(t *testing.T) {
	h := newHost(t, Compute)
	h.compute = Compute // what judges plans would take hours for so many
	h.configure([]string{"replicas=5000", "policy=Parallel", "objects=vip,count", "claims=www"})
	for done := []action.Action{nil}; len(done) > 0; {
		_, done, _ = h.lookAt(h.world(), func(act action.Action, err error) { t.Fatalf("it fails to %s: %v", act, err) })
		for name, pod := range h.pods {
			if pod.Status.Phase == corev1.PodPending {
				h.ready(name, corev1.ConditionTrue)
			}
		}
	}
	if pods, objects := len(h.pods), len(h.objects); pods != 5000 || objects != 5001 {
		t.Fatalf("there are %d pods and %d objects, want 5000 and 5001", pods, objects)
	}
	status := h.set.Status.DeepCopy()
	p := h.computeAndRead(h.world())
	if actions := len(p.All()); actions > 0 || !equality.Semantic.DeepEqual(&p.Status, status) || p.Status.AvailableReplicas != 5000 {
		t.Errorf("the next look at %d available members has %d actions and a status of\n%v\nwant 5000, none and\n%v", p.Status.AvailableReplicas,
			actions, p.Status, status)
	}
}
