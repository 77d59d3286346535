// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
	"statefulset.dev/test/harness"
)

// TestAPlanForManyMembersHoldsOneTemplate is about a set that was stored with
// thousands of containers: its members must not take the template's memory each.
func TestAPlanForManyMembersHoldsOneTemplate(t *testing.T) {
	const containers, most = 2000, 16 << 20
	for sentence, partition := range map[string]int32{"members at the present template": 0, "members at an earlier one": 5000} {
		t.Run(sentence, func(t *testing.T) {
			labels := map[string]string{"app": "web"}
			set := &v1.StatefulSet{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "set-uid", Generation: 1},
				Spec: v1.StatefulSetSpec{
					Replicas: new(int32(5000)), PodManagementPolicy: v1.ParallelPodManagement,
					Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
					UpdateStrategy: v1.StatefulSetUpdateStrategy{
						Type:          v1.RollingUpdateStatefulSetStrategyType,
						RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{Partition: &partition},
					},
				},
			}
			for i := range containers {
				set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "x"})
			}
			v1.SetObjectDefaults_StatefulSet(set)
			earlier := Compute(World{Set: set}).First[0].(action.CreateRevision).Revision
			earlier.UID = "revision-uid"
			set.Status.CurrentRevision = earlier.Name
			set = set.DeepCopy()
			set.Spec.Template.Spec.Containers[0].Image = "y"
			world := World{Set: set, Revisions: []*appsv1.ControllerRevision{earlier}, Now: time.Unix(1000, 0)}

			before := harness.Heap()
			decided := Compute(world)
			took := harness.Heap() - before
			creates := 0
			for _, act := range decided.All() {
				if create, ok := act.(action.CreateMember); ok && (create.Pod.Labels[identity.RevisionLabel] == earlier.Name) == (partition > 0) {
					creates++
				}
			}
			t.Logf("%s: a plan with %d creates takes %d KiB", sentence, creates, took>>10)
			if creates != mostMissing || took > most {
				t.Errorf("got %d creates in %d bytes, want %d in %d at most", creates, took, mostMissing, most)
			}
			runtime.KeepAlive(decided)
		})
	}
}
