// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// TestBroken: which pods that are not ready count as broken. All of these have a container that is not ready.
func TestBroken(t *testing.T) {
	const asked = `{"id":1,"operation":"Update","revision":"web-2","since":"2026-01-01T00:00:00Z"}`
	const (
		restarted = `{"revisions":["web-1","web-2"],"since":"2026-01-01T00:00:00Z","containers":{"db":"a"}}`
		resized   = `{"revisions":["web-1","web-2"],"since":"2026-01-01T00:00:00Z","resources":{"db":{}}}`
	)
	drained := corev1.PodCondition{Type: v1.PodInService, Status: corev1.ConditionFalse, Reason: v1.ReasonDraining}
	cases := map[string]struct {
		question, note, revision string
		phase                    corev1.PodPhase
		inService                *corev1.PodCondition
		broken                   bool
	}{
		"nothing is done with it":                              {broken: true},
		"its gates are asked":                                  {question: asked},
		"its gates are asked, and it was broken before":        {question: `{"id":1,"operation":"Replace","broken":true}`, broken: true},
		"its question cannot be read, so that another follows": {question: "{", broken: true},
		"its gates are asked, and it has not started":          {question: asked, phase: corev1.PodPending, broken: true},
		"its gates are asked, and its node is lost":            {question: asked, phase: corev1.PodUnknown, broken: true},
		"its gates are asked, and it has ended, so it goes":    {question: asked, phase: corev1.PodFailed},
		"it is drained":                                          {inService: &drained},
		"it is drained, and its node is lost":                    {inService: &drained, phase: corev1.PodUnknown, broken: true},
		"it has been drained, and its containers are restarted":  {inService: &drained, note: restarted, broken: true},
		"its gates are asked while its containers are resized":   {question: asked, note: resized},
		"its gates were asked for the restart of its containers": {question: asked, note: restarted, revision: "web-2", broken: true},
		"its gates are asked while its containers are restarted": {question: asked, note: restarted, revision: "web-1"},
		"it is in service": {
			inService: &corev1.PodCondition{Type: v1.PodInService, Status: corev1.ConditionTrue}, broken: true},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
			pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: v1.PodInService}}
			pod.Status.Phase = corev1.PodRunning
			if test.revision != "" {
				pod.Labels = map[string]string{identity.RevisionLabel: test.revision}
			}
			if test.phase != "" {
				pod.Status.Phase = test.phase
			}
			if test.question != "" {
				pod.Annotations[v1.DisruptionAnnotation] = test.question
			}
			if test.note != "" {
				pod.Annotations[v1.InPlaceAnnotation] = test.note
			}
			pod.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.ContainersReady, Status: corev1.ConditionFalse}}
			if test.inService != nil {
				pod.Status.Conditions = append(pod.Status.Conditions, *test.inService)
			}
			if got := isBroken(pod); got != test.broken {
				t.Errorf("it is broken: got %t, want %t", got, test.broken)
			}
		})
	}
}

// TestGrowthThatOthersWaitFor: which claims count among those whose volumes may change at a time.
func TestGrowthThatOthersWaitFor(t *testing.T) {
	cases := map[string]struct {
		status corev1.ClaimResourceStatus
		modify corev1.PersistentVolumeClaimModifyVolumeStatus
		waits  bool
	}{
		"the driver is at work":                      {waits: true},
		"the driver has refused":                     {status: corev1.PersistentVolumeClaimControllerResizeInfeasible},
		"the node has yet to resize the file system": {status: corev1.PersistentVolumeClaimNodeResizePending},
		"the node cannot resize the file system":     {status: corev1.PersistentVolumeClaimNodeResizeInfeasible, waits: true},
		"the driver has refused, and gives it a class": {
			status: corev1.PersistentVolumeClaimControllerResizeInfeasible, modify: corev1.PersistentVolumeClaimModifyVolumeInProgress, waits: true},
		"the driver has refused both a size and a class": {
			status: corev1.PersistentVolumeClaimControllerResizeInfeasible, modify: corev1.PersistentVolumeClaimModifyVolumeInfeasible},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			size := func(text string) corev1.ResourceList {
				return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(text)}
			}
			template := &corev1.PersistentVolumeClaim{
				Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: size("2Gi")}}}
			claim := template.DeepCopy()
			claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: size("1Gi")}
			if test.status != "" {
				claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{corev1.ResourceStorage: test.status}
			}
			if test.modify != "" {
				template.Spec.VolumeAttributesClassName, claim.Spec.VolumeAttributesClassName = new("fast"), new("fast")
				claim.Status.ModifyVolumeStatus = &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: "fast", Status: test.modify}
			}
			if got := compareClaim(template, claim).spends; got != test.waits {
				t.Errorf("others wait for it: got %t, want %t", got, test.waits)
			}
		})
	}
}

// TestHopelessSurplusPods: for how long a higher surplus pod that is not ready waits for a lower one.
func TestHopelessSurplusPods(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		ready    corev1.ConditionStatus
		changed  time.Duration
		deadline int32
		hopeless bool
	}{
		"it has just ceased to be ready":           {corev1.ConditionFalse, -time.Second, 600, false},
		"it has not been ready until the deadline": {corev1.ConditionFalse, -10 * time.Minute, 600, true},
		"a second is left":                         {corev1.ConditionFalse, -599 * time.Second, 600, false},
		"its node's clock is ahead":                {corev1.ConditionFalse, time.Hour, 600, false},
		"it has been ready for long":               {corev1.ConditionTrue, -time.Hour, 600, false},
		"the deadline of the set is shorter":       {corev1.ConditionFalse, -time.Minute, 60, true},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: test.ready, LastTransitionTime: metav1.Time{Time: now.Add(test.changed)}}}}}
			f := &facts{world: World{Now: now, Set: &v1.StatefulSet{Spec: v1.StatefulSetSpec{ProgressDeadlineSeconds: &test.deadline}}}}
			if got := f.isHopeless(member{ordinal: 3, pod: pod}); got != test.hopeless {
				t.Errorf("it is hopeless: got %t, want %t", got, test.hopeless)
			}
		})
	}
}
