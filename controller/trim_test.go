// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestThePlannerDecidesTheSameOnTrimmedObjects(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cases := map[string]func(*plan.World){
		"all members are available": func(*plan.World) {},
		"a pod has failed":          func(w *plan.World) { w.Pods[1].Status.Phase = corev1.PodFailed },
		"the node of a pod is lost": func(w *plan.World) {
			w.Pods[1].Spec.NodeName, w.Pods[1].Status.Phase, w.Pods[1].Status.Reason = "node-1", corev1.PodUnknown, "NodeLost"
		},
		"a claim has no volume": func(w *plan.World) {
			w.Claims[0].Status.Phase, w.Claims[0].Spec.StorageClassName = corev1.ClaimPending, new("fast")
			w.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodPending,
				Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}}
		},
		"a pod is about to go":      func(w *plan.World) { w.Pods[2].DeletionTimestamp = &metav1.Time{Time: now} },
		"a pod lost its labels":     func(w *plan.World) { delete(w.Pods[1].Labels, appsv1.PodIndexLabel) },
		"a pod is nobody's":         func(w *plan.World) { w.Pods[1].OwnerReferences = nil },
		"a pod mounts other claims": func(w *plan.World) { w.Pods[0].Spec.Volumes = nil },
		"a claim is about to go":    func(w *plan.World) { w.Claims[0].DeletionTimestamp = &metav1.Time{Time: now} },
		"a pod cannot start": func(w *plan.World) {
			w.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{
				{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "in 10s"}}},
			}}
		},
		"a pod has no node": func(w *plan.World) {
			w.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available",
					LastTransitionTime: metav1.Time{Time: now}},
			}}
		},
		"a pod keeps ending": func(w *plan.World) {
			w.Pods[0].Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: now}}}
			w.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{
				{Name: "sidecar", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed"}}},
				{Name: "main", LastTerminationState: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", Message: "at 10:41"}}},
			}
		},
		"the pod of the leader comes last": func(w *plan.World) {
			w.Set.Spec.Template.Spec.Containers[0].Image = "main:2"
			w.Set.Spec.UpdateStrategy.RollingUpdate.Order = &v1.UpdateOrder{
				Last: []metav1.LabelSelector{{MatchLabels: map[string]string{"role": "leader"}}}}
			w.Pods[2].Labels["role"] = "leader"
		},
		"a pod is updated in place": func(w *plan.World) {
			w.Set.Spec.Template.Spec.Containers[0].Image = "main:2"
			w.Set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.IfPossibleInPlaceUpdatePolicyType}
		},
		"containers of a pod restart in place": func(w *plan.World) {
			w.Pods[2].Annotations[v1.InPlaceAnnotation] = `{"revisions":["web-1","web-2"],"since":"2026-01-02T03:04:05Z","containers":{"main":"a://1","proxy":"a://2"}}`
			w.Pods[2].Generation, w.Pods[2].Status.ObservedGeneration = 3, 3
			w.Pods[2].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "a://3"}}
			w.Pods[2].Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "setup", ContainerID: "a://0",
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}, {Name: "proxy", ContainerID: "a://2"}}
		},
		"a container has just been restarted, and is ready": func(w *plan.World) {
			w.Set.Spec.MinReadySeconds = 60
			w.Pods[2].Annotations[v1.InPlaceAnnotation] = `{"since":"2026-01-02T03:04:05Z","containers":{"main":"a://1"}}`
			w.Pods[2].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "a://3",
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: now.Add(-time.Second)}}}}}
		},
		"a container has not been restarted for long": func(w *plan.World) {
			w.Pods[2].Annotations[v1.InPlaceAnnotation] = `{"since":"2025-01-02T03:04:05Z","containers":{"main":"a://1"}}`
			w.Pods[2].Spec.TerminationGracePeriodSeconds = new(int64(1_000_000_000))
			w.Pods[2].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "a://1"}}
		},
		"containers of a pod have yet to be resized": func(w *plan.World) {
			resizing(w, "1", "1")
			w.Pods[2].Spec.InitContainers = []corev1.Container{{Name: "proxy", Resources: cpuOf("1")}}
		},
		"its node has yet to resize a pod": func(w *plan.World) { resizing(w, "2", "1") },
		"its node does not resize a pod": func(w *plan.World) {
			resizing(w, "2", "1")
			w.Pods[2].Status.Conditions = append(w.Pods[2].Status.Conditions,
				corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred, Message: "full"})
		},
		"its node cannot resize a pod": func(w *plan.World) {
			resizing(w, "2", "1")
			w.Pods[2].Status.Conditions = append(w.Pods[2].Status.Conditions,
				corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible})
		},
		"its node has resized a pod": func(w *plan.World) { resizing(w, "2", "2") },
		"its node has not seen it": func(w *plan.World) {
			w.Pods[2].Annotations[v1.InPlaceAnnotation] = `{"since":"2026-01-02T03:04:05Z","containers":{"main":"a://1"}}`
			w.Pods[2].Generation, w.Pods[2].Status.ObservedGeneration, w.Pods[2].Spec.NodeName = 3, 2, "node-1"
			w.Pods[2].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "a://3"}}
		},
		"a pod that is changed in place has no node": func(w *plan.World) {
			w.Pods[2].Annotations[v1.InPlaceAnnotation] = `{"since":"2026-01-02T03:04:05Z","containers":{"main":""}}`
			w.Pods[2].Generation, w.Pods[2].Status = 3, corev1.PodStatus{Phase: corev1.PodPending, ObservedGeneration: 2}
		},
		"the pod is not ready because a gate is asked": func(w *plan.World) {
			w.Set.Spec.Disruption = &v1.StatefulSetDisruption{
				Gates: []v1.DisruptionGate{{ConditionType: "example.com/handed-over", TimeoutSeconds: new(int32(30))}}}
			w.Set.Spec.Replicas = new(int32(2))
			pod := w.Pods[2]
			pod.Annotations[v1.DisruptionAnnotation] = `{"id":1,"operation":"ScaleDown","since":"2026-01-02T03:04:00Z"}`
			pod.Annotations[v1.DisruptionCountAnnotation] = "1"
			pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/handed-over"}}
			pod.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
				{Type: "example.com/handed-over", Status: corev1.ConditionFalse, Reason: v1.ReasonGateRequested, Message: "long"}}
		},
		"a pod is not ready although a gate is asked": func(w *plan.World) {
			w.Set.Spec.Disruption = &v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{{ConditionType: "example.com/handed-over"}}}
			w.Set.Spec.Template.Spec.Containers[0].Image, w.Set.Spec.PodManagementPolicy = "main:2", v1.ParallelPodManagement
			pod := w.Pods[2]
			pod.Annotations[v1.DisruptionAnnotation] = `{"id":1,"operation":"Update"}`
			pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/handed-over"}}
			pod.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.ContainersReady, Status: corev1.ConditionFalse},
				{Type: "example.com/handed-over", Status: corev1.ConditionFalse, Reason: v1.ReasonGateRequested}}
		},
		"the pod of a member has its override, and another that of before": func(w *plan.World) {
			w.Set.Spec.Overrides = []v1.MemberOverride{
				{Name: "big", Ordinals: []v1.OrdinalRange{{First: 1}}, Labels: map[string]string{"size": "big"}}}
			w.Pods[1] = newPod(w.Set, 1)
			w.Pods[2].Annotations[v1.OverrideAnnotation] = "1-of-before"
		},
		"members are told how many there are": func(w *plan.World) {
			w.Set.Spec.Identity = &v1.MemberIdentity{Env: []string{"REPLICAS"}}
			w.Pods[1] = newPod(w.Set, 1)
			w.Pods[1].Annotations = map[string]string{v1.ReplicasAnnotation: "9"}
			w.Pods[1].Labels[identity.RevisionLabel] = plan.Compute(*w).Status.UpdateRevision
		},
		"the claim of a removed member was dated": func(w *plan.World) {
			w.Set.Spec.Replicas, w.Pods = new(int32(2)), w.Pods[:2]
			w.Set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: v1.RetainPersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  v1.DeletePersistentVolumeClaimRetentionPolicyType, ScaledAfterSeconds: new(int32(600))}
			claim := w.Claims[2]
			claim.Annotations = map[string]string{v1.OwnerAnnotation: identity.OwnerMark(w.Set), v1.RetiredAtAnnotation: "2026-01-01T00:00:00Z"}
			claim.ManagedFields = []metav1.ManagedFieldsEntry{
				{Manager: "others", Time: new(metav1.NewTime(now)), FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:a":{}}}}`)},
				{Manager: "ours", Time: new(metav1.NewTime(now.Add(-time.Minute))),
					FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:note":{},"f:apps.statefulset.dev/retired-at":{}}}}`)},
			}
		},
		"pods become available later": func(w *plan.World) {
			w.Set.Spec.MinReadySeconds = 60
			w.Pods[2].Status.Conditions[1].LastTransitionTime = metav1.Time{Time: now.Add(-20 * time.Second)}
		},
	}
	for sentence, arrange := range cases {
		t.Run(sentence, func(t *testing.T) {
			full := fullWorld(now)
			arrange(&full)
			trimmed := plan.World{Set: full.Set, Now: now}
			for _, pod := range full.Pods {
				trimmed.Pods = append(trimmed.Pods, trimmedBy(t, filled(t), trimPod, pod))
			}
			for _, claim := range full.Claims {
				trimmed.Claims = append(trimmed.Claims, trimmedBy(t, filled(t, full.Set), trimClaim, claim))
			}
			for _, revision := range full.Revisions {
				trimmed.Revisions = append(trimmed.Revisions, trimmedBy(t, filled(t, full.Set), trimRevision, revision))
			}
			got, want := plan.Compute(trimmed), plan.Compute(full)
			if !reflect.DeepEqual(got.Cache, want.Cache) {
				t.Errorf("the records of trimmed objects differ from those of whole ones: got %+v, want %+v", got.Cache, want.Cache)
			}
			if !equality.Semantic.DeepEqual(parts(got), parts(want)) {
				t.Errorf("plan for trimmed objects differs from the plan for whole ones (- got, + want):\n%s", diff.Diff(got, want))
			}
		})
	}
}

// resizing makes the last pod one whose container is to have 2 cores, and is told to have, and
// has, so many.
func resizing(w *plan.World, told, has string) {
	w.Pods[2].Annotations[v1.InPlaceAnnotation] = `{"since":"2026-01-02T03:04:05Z","containers":{},"resources":{"main":{"requests":{"cpu":"2"}},"proxy":{"requests":{"cpu":"2"}}}}`
	w.Pods[2].Spec.Containers = []corev1.Container{{Name: "main", Resources: cpuOf(told)}}
	w.Pods[2].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "a://1", Resources: new(cpuOf(has))}}
}

func cpuOf(cores string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity.MustParse(cores)}}
}

// parts are what a plan says, its records apart.
func parts(p plan.Plan) []any {
	return []any{p.First, p.Chains, p.Finally, p.Warnings, p.Waiting, p.Status, p.Unavailable, p.MaxUnavailable, p.RequeueAfter}
}

func TestTrimmingLeavesOutWhatTheCachesNeedNot(t *testing.T) {
	world := fullWorld(time.Now())
	pod := trimmedBy(t, filled(t), trimPod, world.Pods[0])
	if pod.ManagedFields != nil || pod.Annotations != nil || pod.Spec.Containers != nil || len(pod.Spec.Volumes) != 1 ||
		len(pod.Status.Conditions) != 1 {
		t.Errorf("got pod %v, want no managed fields, annotations or containers, one volume and one condition", pod)
	}
	claim := trimmedBy(t, filled(t, world.Set), trimClaim, world.Claims[0])
	if claim.ManagedFields != nil || claim.Spec.VolumeName != "" || claim.Spec.Resources.Requests.Storage().Value() != 1<<30 ||
		claim.Status.Phase != corev1.ClaimBound {
		t.Errorf("got claim %v, want no managed fields and no volume, 1Gi requested, and bound", claim)
	}
}

func fullWorld(now time.Time) plan.World {
	set := newSet("web", "www")
	world := plan.World{Set: set, Now: now}
	for ordinal := range 3 {
		pod := newPod(set, ordinal)
		pod.Annotations = map[string]string{"note": "long"}
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "scratch"})
		pod.Status.Conditions = append([]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}, pod.Status.Conditions...)
		world.Pods = append(world.Pods, pod)
		for _, claim := range identity.Claims(set, ordinal) {
			claim.Annotations = map[string]string{"note": "long"}
			claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: quantity.MustParse("1Gi")}
			claim.Status.Phase = corev1.ClaimBound
			world.Claims = append(world.Claims, claim)
		}
	}
	world.Revisions = append(world.Revisions, newRevision(set, "web-old"))
	return world
}

func trimmedBy[T any](t *testing.T, v view, trim func(view, T) any, object T) T {
	t.Helper()
	kept, ok := trim(v, object).(T)
	if !ok {
		t.Fatalf("trimming a %T: got a %T", object, trim(v, object))
	}
	return kept
}
