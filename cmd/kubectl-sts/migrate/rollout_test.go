// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// unseen is what is said of a set of which nobody knows yet whom its update has reached.
const unseen = "the update is paused or has steps, and the status does not record yet which members it has reached; wait until the controller has observed the set"

// updating is a set of four members in the middle of an update of that kind.
func updating(rolling v1.RollingUpdateStatefulSetStrategy, rollout *v1.RolloutStatus) *v1.StatefulSet {
	set := ourSet("")
	set.Spec.Replicas = new(int32(4))
	set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &rolling}
	set.Status.Rollout = rollout
	return set
}

// reaches is what the status says of an update at a step.
func reaches(step int32, released ...v1.OrdinalRange) *v1.RolloutStatus {
	return &v1.RolloutStatus{Revision: "web-b", Step: step, Released: released}
}

// expectMove wants a set to be refused in these words, or else to get that partition.
func expectMove(t *testing.T, set *v1.StatefulSet, pods []corev1.Pod, partition int32, refusal string) {
	t.Helper()
	err := refuseRollout(set, pods)
	if (err == nil) != (refusal == "") || err != nil && err.Error() != refusal {
		t.Fatalf("got error %v, want %q", err, refusal)
	}
	theirs, err := toTheirs(set)
	if err != nil {
		t.Fatal(err)
	}
	got := int32(0)
	if rolling := theirs.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		got = *rolling.Partition
	}
	if refusal == "" && got != partition {
		t.Errorf("got partition %d, want %d", got, partition)
	}
}

func TestAnUpdateByStepsIsMoved(t *testing.T) {
	for sentence, test := range map[string]struct {
		rollout   *v1.RolloutStatus
		partition int32
		err       string
	}{
		"that has reached the highest members keeps them as a partition": {
			rollout: reaches(1, v1.OrdinalRange{First: 2, Last: new(int32(3))}), partition: 2},
		"that has reached nobody is kept from all":        {rollout: reaches(1), partition: 4},
		"that is past its steps goes on":                  {rollout: reaches(2, v1.OrdinalRange{First: 3})},
		"that has no record yet is refused":               {err: unseen},
		"whose record is of a template before is refused": {rollout: &v1.RolloutStatus{Revision: "web-a", Step: 1}, err: unseen},
		"that has reached one in the middle is refused": {rollout: reaches(1, v1.OrdinalRange{First: 1}),
			err: "web-1 runs web-b and web-2 does not: apps/v1 would update all members; promote or abort the update first"},
		"that is rolled back is refused": {rollout: &v1.RolloutStatus{Revision: "web-b", Step: 1, Rollback: true},
			err: "the update to web-b is rolled back, and apps/v1 would update all members to it; first change the template, for example with kubectl sts rollout undo"},
	} {
		t.Run(sentence, func(t *testing.T) {
			steps := v1.RollingUpdateStatefulSetStrategy{Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1)}}}
			expectMove(t, updating(steps, test.rollout), nil, test.partition, test.err)
		})
	}
}

func TestAPausedUpdateIsMoved(t *testing.T) {
	for sentence, test := range map[string]struct {
		rolling   v1.RollingUpdateStatefulSetStrategy
		rollout   *v1.RolloutStatus
		unseen    bool
		partition int32
		err       string
	}{
		"that has reached the highest members keeps them as a partition": {rollout: reaches(1, v1.OrdinalRange{First: 3}), partition: 3},
		"that has reached nobody is kept from all":                       {rollout: reaches(1), partition: 4},
		"that has reached all has nobody to be kept from":                {rollout: reaches(1, v1.OrdinalRange{First: 0, Last: new(int32(3))})},
		"that had a partition is kept from those above it, too": {
			rolling: v1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1))}, rollout: reaches(1, v1.OrdinalRange{First: 3}), partition: 3},
		"that is past its steps is kept from the others": {
			rolling: v1.RollingUpdateStatefulSetStrategy{Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1)}}},
			rollout: reaches(2, v1.OrdinalRange{First: 3}), partition: 3},
		"that has reached one in the middle is refused": {rollout: reaches(1, v1.OrdinalRange{First: 1}),
			err: "web-1 runs web-b and web-2 does not: apps/v1 would update all members; resume the update first"},
		"that has no record yet is refused":   {err: unseen},
		"that nobody has seen yet is refused": {rollout: reaches(1), unseen: true, err: unseen},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.rolling.Paused = new(true)
			set := updating(test.rolling, test.rollout)
			if test.unseen {
				set.Generation++
			}
			expectMove(t, set, nil, test.partition, test.err)
		})
	}
}

func TestAPausedUpdateThatWasTakenBackIsMoved(t *testing.T) {
	for sentence, test := range map[string]struct {
		running   string
		partition *int32
		deleted   bool
		err       string
	}{
		"when all members run the current revision": {running: "web-a"},
		"unless a member runs another": {running: "web-b",
			err: "web-2 runs web-b and the update is paused: apps/v1 would return it to web-a; resume the update first"},
		"when the partition leaves that one alone": {running: "web-b", partition: new(int32(3))},
		"when that one is on its way out":          {running: "web-b", deleted: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := updating(v1.RollingUpdateStatefulSetStrategy{Paused: new(true), Partition: test.partition}, nil)
			set.Status.UpdateRevision = set.Status.CurrentRevision
			pod := *identity.Pod(set, &set.Spec.Template, test.running, 2)
			if test.deleted {
				pod.DeletionTimestamp = &metav1.Time{}
			}
			partition := int32(0)
			if test.partition != nil {
				partition = *test.partition
			}
			expectMove(t, set, []corev1.Pod{pod}, partition, test.err)
		})
	}
}
