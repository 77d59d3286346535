// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/forecast"
	"statefulset.dev/identity"
)

// A plan reads no objects, so that it does not know what they give.
func TestPlansTakeObjectsToGiveWhatPodsName(t *testing.T) {
	set := newSet("web")
	set.Spec.Replicas, set.Spec.Identity = new(int32(1)), &v1.MemberIdentity{Env: []string{"ADDRESS"}}
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "conf", Outputs: []v1.ObjectOutput{{Name: "ADDRESS", Expression: "object.data.a"}},
		Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}`)}}}
	listed := set.DeepCopy()
	listed.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
		{Name: "conf", Kind: "ConfigMap", ObjectName: "$(IDENTITY)-conf", Wanted: 1, Present: 1, Updated: 1}}
	for sentence, stored := range map[string]*v1.StatefulSet{"of a new set": set, "of one that has objects": listed} {
		t.Run(sentence, func(t *testing.T) {
			world := filled(t, set).world(set, time.Unix(0, 0))
			assumed(t, &world, []v1.StatefulSet{*stored})
			shown, err := forecast.Play(world, func() error { return nil })
			if err != nil || shown.Outcome != v1.PlanConverged || !strings.Contains(fmt.Sprint(shown.Rounds), "create pod web-0") {
				t.Errorf("the plan is %v, %v, want one that creates the pod, and comes to an end", shown, err)
			}
		})
	}
}

// A plan reads no objects: it takes those to be there that the status of the stored set lists.
func TestPlansTakeTheObjectsOfTheStatusToBeThere(t *testing.T) {
	templates := func(data string, names ...string) (all []v1.ObjectTemplate) {
		for _, name := range names {
			template := v1.ObjectTemplate{Name: name, Object: runtime.RawExtension{
				Raw: fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-%s"},"data":{"a":%q}}`, name, data)}}
			if name == "all" {
				template.Scope = v1.SetObjectScope
				template.Object.Raw = []byte(strings.ReplaceAll(string(template.Object.Raw), "IDENTITY", "SET"))
			}
			all = append(all, template)
		}
		return all
	}
	stored := newSet("web")
	stored.Spec.Replicas, stored.Spec.ObjectTemplates = new(int32(1)), templates("1", "conf", "all")
	stored.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType}
	stored.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
		{Name: "conf", Kind: "ConfigMap", ObjectName: "$(IDENTITY)-conf", Wanted: 1, Present: 1, Updated: 1},
		{Name: "all", Kind: "ConfigMap", ObjectName: "$(SET)-all", Wanted: 1, Foreign: 1},
	}
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		want   []string
	}{
		"nothing is to be done for the stored set": {func(*v1.StatefulSet) {}, nil},
		"a template that is changed is applied": {
			func(s *v1.StatefulSet) { s.Spec.ObjectTemplates = templates("2", "conf") }, []string{"change ConfigMap web-0-conf"}},
		"one that is new is made": {
			func(s *v1.StatefulSet) { s.Spec.ObjectTemplates = templates("1", "conf", "more") }, []string{"create ConfigMap web-0-more"}},
		"a member that is new gets its own": {func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(2)) },
			[]string{"create ConfigMap web-1-conf", "create pod web-1 at"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := stored.DeepCopy()
			test.change(set)
			world := filled(t, stored, newPod(stored, 0)).world(set, time.Unix(0, 0))
			assumed(t, &world, []v1.StatefulSet{*stored})
			var got []string
			for _, act := range plan.Compute(world).All() {
				if text := act.String(); !strings.Contains(text, "revision") && !strings.HasPrefix(text, "repair") {
					got = append(got, text)
				}
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("the plan is %q, want %q", got, test.want)
			}
		})
	}
}

// TestPlansShowWhenObjectsAreDeleted scales a set in whose objects stay for a minute.
func TestPlansShowWhenObjectsAreDeleted(t *testing.T) {
	set := newSet("web")
	set.Spec.Replicas = new(int32(2))
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{
		{Name: "conf", Retention: &v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType, ScaledAfterSeconds: new(int32(60))},
			Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}`)}}}
	set.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
		{Name: "conf", Kind: "ConfigMap", ObjectName: "$(IDENTITY)-conf", Wanted: 2, Present: 2, Updated: 2}}
	fewer := set.DeepCopy()
	fewer.Spec.Replicas = new(int32(1))
	world := filled(t, set, newPod(set, 0), newPod(set, 1)).world(fewer, time.Unix(0, 0))
	assumed(t, &world, []v1.StatefulSet{*set})
	shown, err := forecast.Play(world, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	var got []v1.PlanAction
	for _, round := range shown.Rounds {
		for _, step := range round.Steps {
			for _, act := range step.Actions {
				if act.Type == v1.PlanDeleteObject {
					got = append(got, act)
				}
			}
		}
	}
	if len(got) != 1 || *got[0].Ordinal != 1 ||
		!strings.HasPrefix(got[0].Description, "delete ConfigMap web-1-conf (member removed by 1970-01-01T00:") ||
		!strings.HasPrefix(got[0].Message, "its member was removed long enough ago: it has been due since 1970-01-01T00:") {
		t.Errorf("the plan deletes %+v, want the ConfigMap of the second member, and when, in %v", got, shown)
	}
}

// A plan of a set that loses a template shows what becomes of the objects of that.
func TestPlansTakeTheObjectsOfRemovedTemplatesToBeThere(t *testing.T) {
	stored := newSet("web")
	stored.Spec.Replicas = new(int32(1))
	stored.Spec.ObjectTemplates = []v1.ObjectTemplate{
		{Name: "conf", Retention: &v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType, ScaledAfterSeconds: new(int32(60))},
			Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}`)}}}
	stored.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
		{Name: "conf", Kind: "ConfigMap", ObjectName: "$(IDENTITY)-conf", Wanted: 1, Present: 1, Updated: 1}}
	proposed := stored.DeepCopy()
	proposed.Spec.ObjectTemplates = nil
	identity.RecordRemovedTemplates(proposed, stored, metav1.NewTime(time.Unix(0, 0)))
	world := filled(t, stored, newPod(stored, 0)).world(proposed, time.Unix(0, 0))
	assumed(t, &world, []v1.StatefulSet{*proposed})
	shown, err := forecast.Play(world, func() error { return nil })
	if text := fmt.Sprint(shown.Rounds); err != nil ||
		!strings.Contains(text, "delete ConfigMap web-0-conf (template conf removed, not needed since ") {
		t.Errorf("the plan is %v, %v, want one that deletes the ConfigMap", text, err)
	}
}

func TestPlansShowThatAListOfMembersChanges(t *testing.T) {
	stored := newSet("web")
	stored.Spec.Replicas = new(int32(1))
	stored.Spec.ObjectTemplates = []v1.ObjectTemplate{
		{Name: "list", Scope: v1.SetObjectScope, Transforms: []v1.Transform{{Path: "/data/x", Expression: "MEMBERS.map(m, m.identity).join()"}},
			Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-list"}}`)}}}
	stored.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
		{Name: "list", Kind: "ConfigMap", ObjectName: "$(SET)-list", Wanted: 1, Present: 1, Updated: 1}}
	for replicas, want := range map[int32]bool{1: false, 2: true, 0: true} {
		set := stored.DeepCopy()
		set.Spec.Replicas = &replicas
		world := filled(t, stored, newPod(stored, 0)).world(set, time.Unix(0, 0))
		assumed(t, &world, []v1.StatefulSet{*stored})
		got := slices.ContainsFunc(plan.Compute(world).All(), func(a action.Action) bool { return a.String() == "change ConfigMap web-list" })
		if got != want {
			t.Errorf("with %d replicas instead of one: the plan is %v, want that it changes the list: %t", replicas, plan.Compute(world).All(), want)
		}
	}
}

// assumed completes a world, as a preview does.
func assumed(t *testing.T, world *plan.World, neighbours []v1.StatefulSet) {
	t.Helper()
	if err := assumeObjects(t.Context(), world, neighbours, nil); err != nil {
		t.Fatal(err)
	}
}
