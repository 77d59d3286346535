// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestStepsOfUpdates(t *testing.T) {
	to := func(updated ...string) (steps []v1.RolloutStep) {
		for _, value := range updated {
			steps = append(steps, v1.RolloutStep{Updated: intstr.Parse(value)})
		}
		return steps
	}
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprint(i+1))
	}
	const path = "spec.updateStrategy.rollingUpdate."
	for sentence, test := range map[string]struct {
		rolling v1.RollingUpdateStatefulSetStrategy
		want    []string
	}{
		"with all that they can have are accepted": {rolling: v1.RollingUpdateStatefulSetStrategy{
			Partition: ptr.To[int32](0), FailurePolicy: ptr.To(v1.RollbackRolloutFailurePolicy),
			Steps: []v1.RolloutStep{
				{Updated: intstr.FromInt32(1), BakeSeconds: 604800, PodConditions: []string{"example.com/healthy", "example.com/warm"},
					Approval: v1.ManualRolloutStepApproval},
				{Updated: intstr.FromString("50%"), Approval: v1.AutomaticRolloutStepApproval},
			}}},
		"from a number to a percentage and back are accepted": {
			rolling: v1.RollingUpdateStatefulSetStrategy{Steps: to("3", "1%", "2", "100%"), FailurePolicy: ptr.To(v1.WaitRolloutFailurePolicy)}},
		"to fewer members than before, or as many": {
			rolling: v1.RollingUpdateStatefulSetStrategy{Steps: to("2", "1", "10%", "10%")},
			want: []string{
				path + `steps[1].updated: Invalid value: "1": must be more than in step 1, which has 2`,
				path + `steps[3].updated: Invalid value: "10%": must be more than in step 3, which has 10%`,
			},
		},
		"to no members, more than all, or what is no number": {
			rolling: v1.RollingUpdateStatefulSetStrategy{Steps: []v1.RolloutStep{{}, {Updated: intstr.FromString("101%")},
				{Updated: intstr.FromInt32(-1)}, {Updated: intstr.FromString("half")}, {Updated: intstr.FromString("07%")}}},
			want: []string{
				path + `steps[0].updated: Invalid value: "0": must be 1 or more, or 1% to 100%`,
				path + `steps[1].updated: Invalid value: "101%": must be 1 or more, or 1% to 100%`,
				path + `steps[2].updated: Invalid value: "-1": must be 1 or more, or 1% to 100%`,
				path + `steps[3].updated: Invalid value: "half": must be 1 or more, or 1% to 100%`,
				path + `steps[4].updated: Invalid value: "07%": must be 1 or more, or 1% to 100%`,
				path + `steps[4].updated: Invalid value: "07%": must be more than in step 4, which has half`,
			},
		},
		"with a bake, a condition and an approval that there are not": {
			rolling: v1.RollingUpdateStatefulSetStrategy{
				Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1), BakeSeconds: 604801, Approval: "Never",
					PodConditions: []string{"Ready", "example.com/ok", "example.com/ok", "example.com/not ok"}},
					{Updated: intstr.FromInt32(2), BakeSeconds: -1}}},
			want: []string{
				path + `steps[0].approval: Unsupported value: "Never": supported values: "Automatic", "Manual"`,
				path + "steps[0].bakeSeconds: Invalid value: 604801: must be 0 to 604800",
				path + `steps[0].podConditions[0]: Invalid value: "Ready": must have a domain, such as example.com/healthy: the kubelet sets conditions without a domain`,
				path + `steps[0].podConditions[2]: Duplicate value: "example.com/ok"`,
				path + `steps[0].podConditions[3]: Invalid value: "example.com/not ok": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
				path + "steps[1].bakeSeconds: Invalid value: -1: must be 0 to 604800",
			},
		},
		"too many": {
			rolling: v1.RollingUpdateStatefulSetStrategy{Steps: to(many...)},
			want:    []string{path + "steps: Too many: 21: must have at most 20 items"},
		},
		"with too many conditions": {
			rolling: v1.RollingUpdateStatefulSetStrategy{Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1), PodConditions: make([]string, 9)}}},
			want:    []string{path + "steps[0].podConditions: Too many: 9: must have at most 8 items"},
		},
		"beside a partition": {
			rolling: v1.RollingUpdateStatefulSetStrategy{
				Partition: ptr.To[int32](2), Steps: to("1"), FailurePolicy: ptr.To(v1.RollbackRolloutFailurePolicy)},
			want: []string{
				path + "failurePolicy: Forbidden: Rollback is not allowed with partition 2: set partition to 0, or remove it",
				path + "steps: Forbidden: not allowed with partition 2: set partition to 0, or remove it",
			},
		},
		"with a policy that there is not": {
			rolling: v1.RollingUpdateStatefulSetStrategy{FailurePolicy: ptr.To(v1.RolloutFailurePolicy("Retry"))},
			want:    []string{path + `failurePolicy: Unsupported value: "Retry": supported values: "Rollback", "Wait"`},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			change := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate = &test.rolling }))
			verdict{want: test.want}.check(t, onUpdate(t, change))
		})
	}
}
