// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

var update = flag.Bool("update", false, "write the sets and the expected health below artifacts/argocd")

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// web is a set that no controller has looked at yet, as the server stores it.
func web() *v1.StatefulSet {
	labels := map[string]string{"app": "web"}
	set := &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "3f6f0e0c-3a0d-4f8e-9d0e-000000000001", Generation: 1},
		Spec: v1.StatefulSetSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: "db:1"}}}}},
		Status: v1.StatefulSetStatus{Conditions: []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Status: corev1.ConditionUnknown,
			LastTransitionTime: metav1.Time{Time: noon}, Reason: v1.ReasonPending, Message: "The controller has not synced this set yet."}}},
	}
	set.SetGroupVersionKind(v1.GroupVersionKind())
	v1.SetObjectDefaults_StatefulSet(set)
	return set
}

// seen is the set after the planner has looked at it.
func seen(set *v1.StatefulSet, pods ...*corev1.Pod) *v1.StatefulSet {
	set.Status = plan.Compute(plan.World{Set: set, Pods: pods, Now: noon}).Status
	return set
}

// history is the world of a set with the records that the planner makes.
type history struct{ plan.World }

func (h *history) look(pods ...*corev1.Pod) *v1.StatefulSet {
	h.Pods = pods
	p := plan.Compute(h.World)
	for _, act := range p.All() {
		if create, ok := act.(action.CreateRevision); ok {
			h.Revisions = append(h.Revisions, create.Revision)
		}
	}
	h.Set = h.Set.DeepCopy()
	h.Set.Status = p.Status
	return h.Set
}

// updatedBy is a set that was as it should be, has got another image, and was looked at until the
// status said what the update goes by.
func updatedBy(rolling *v1.RollingUpdateStatefulSetStrategy, pods ...*corev1.Pod) *history {
	h := &history{plan.World{Set: web(), Now: noon}}
	h.look(pods...)
	h.Set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: rolling}
	h.Set.Spec.Template.Spec.Containers[0].Image = "db:2"
	h.Set.Generation++
	for range 3 {
		h.look(pods...)
	}
	return h
}

// pod is a pod of the set at its present revision.
func pod(set *v1.StatefulSet, ordinal int, ready corev1.ConditionStatus) *corev1.Pod {
	revision := plan.Compute(plan.World{Set: set, Now: noon}).Status.UpdateRevision
	pod := identity.Pod(set, &set.Spec.Template, revision, ordinal)
	pod.UID = types.UID(fmt.Sprintf("pod-%d", ordinal))
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Time{Time: noon}}}}
	return pod
}

// sets are the sets of the health tests, by the names of their files.
func sets(t *testing.T) map[string]*v1.StatefulSet {
	t.Helper()
	const yes, no = corev1.ConditionTrue, corev1.ConditionFalse
	healthy := seen(web(), pod(web(), 0, yes), pod(web(), 1, yes))
	changed := healthy.DeepCopy()
	changed.Generation++
	held := web()
	held.Annotations = map[string]string{v1.HoldAnnotation: "migration"}
	late := seen(web(), pod(web(), 0, yes), pod(web(), 1, no))
	late.Status.LastProgressTime = &metav1.Time{Time: noon.Add(-time.Hour)}
	updating := seen(web(), pod(web(), 0, yes), pod(web(), 1, yes))
	updating.Spec.Template.Spec.Containers[0].Image = "db:2"
	updating.Generation++
	before := []*corev1.Pod{pod(web(), 0, yes), pod(web(), 1, yes)}
	stepped := &v1.RollingUpdateStatefulSetStrategy{
		Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1), Approval: v1.ManualRolloutStepApproval}}}
	promotable := updatedBy(stepped, before...)
	canary := pod(web(), 1, yes)
	canary.Labels[identity.RevisionLabel] = promotable.Set.Status.UpdateRevision
	promotable.look(before[0], canary)
	aborted := updatedBy(stepped, before...)
	aborted.look(before[0], canary)
	aborted.Set.Status.Rollout.Aborted = true
	rollingBack := aborted.look(before[0], canary)
	gated := updating.DeepCopy()
	gated.Spec.Disruption = &v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{{ConditionType: "example.com/handed-over"}}}
	taken := pod(web(), 1, yes)
	taken.OwnerReferences[0].UID, taken.OwnerReferences[0].Name = "other", "other"
	return map[string]*v1.StatefulSet{
		"unknown":                    web(),
		"healthy":                    healthy,
		"progressing_spec_not_seen":  changed,
		"progressing_creating":       seen(web()),
		"progressing_not_ready":      seen(web(), pod(web(), 0, yes), pod(web(), 1, no)),
		"progressing_updating":       seen(updating, pod(web(), 0, yes), pod(web(), 1, yes)),
		"degraded_name_taken":        seen(web(), pod(web(), 0, yes), taken),
		"degraded_deadline_exceeded": seen(late, pod(web(), 0, yes), pod(web(), 1, no)),
		"degraded_rolled_back":       aborted.look(before...),
		"progressing_gate_asked":     seen(gated, before...),
		"progressing_rolling_back":   rollingBack,
		"suspended":                  seen(held),
		"suspended_not_promoted":     promotable.Set,
		"suspended_paused":           updatedBy(&v1.RollingUpdateStatefulSetStrategy{Paused: new(true)}, before...).Set,
	}
}

// plain is a set as it is read from a file.
func plain(t *testing.T, set *v1.StatefulSet) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

const header = "# Copyright The statefulset-apiserver Authors.\n# SPDX-License-Identifier: Apache-2.0\n\n"

// writeTestData writes the sets, and their health as it is now, to be reviewed.
func writeTestData(t *testing.T) {
	t.Helper()
	all := sets(t)
	var tests []any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fields := plain(t, all[name])
		write(t, filepath.Join("testdata", name+".yaml"), fields)
		tests = append(tests, map[string]any{"healthStatus": run(t, "health.lua", fields), "inputPath": "testdata/" + name + ".yaml"})
	}
	write(t, "health_test.yaml", map[string]any{"tests": tests})
}

func write(t *testing.T, path string, value any) {
	t.Helper()
	encoded, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(scripts, path), append([]byte(header), encoded...), 0o644); err != nil {
		t.Fatal(err)
	}
}
