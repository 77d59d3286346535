// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestDisruptions(t *testing.T) {
	gate := func(name string) v1.DisruptionGate { return v1.DisruptionGate{ConditionType: name} }
	const path = "spec.disruption."
	for sentence, test := range map[string]struct {
		disruption v1.StatefulSetDisruption
		want       []string
	}{
		"that say nothing are accepted": {},
		"with all that they can have are accepted": {
			disruption: v1.StatefulSetDisruption{Method: v1.EvictDisruptionMethodType, Gates: []v1.DisruptionGate{gate("example.com/moved"),
				{ConditionType: "example.com/handed-over", Operations: []v1.DisruptionOperationType{"Update", "ScaleDown", "Replace"},
					TimeoutSeconds: ptr.To[int32](0)}}}},
		"as in apps/v1 are accepted": {disruption: v1.StatefulSetDisruption{Method: v1.DeleteDisruptionMethodType}},
		"by a method that there is not": {
			disruption: v1.StatefulSetDisruption{Method: "Shoot"},
			want:       []string{path + `method: Unsupported value: "Shoot": supported values: "Delete", "Evict"`},
		},
		"with gates without a name, of nobody's, of the server's, twice, and that are no names": {
			disruption: v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{
				{}, gate("Ready"), gate("apps.statefulset.dev/in-service"), gate("example.com/a"), gate("example.com/a"), gate("example.com/-")}},
			want: []string{
				path + "gates[0].conditionType: Required value",
				path + `gates[1].conditionType: Invalid value: "Ready": must have a domain, as in example.com/handed-over`,
				path + `gates[2].conditionType: Invalid value: "apps.statefulset.dev/in-service": must not have the domain apps.statefulset.dev: the controller sets its conditions`,
				path + `gates[4].conditionType: Duplicate value: "example.com/a"`,
				path + `gates[5].conditionType: Invalid value: "example.com/-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			},
		},
		"with operations that there are not, or twice, and times before the question": {
			disruption: v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{{ConditionType: "example.com/a",
				Operations: []v1.DisruptionOperationType{"Delete", "Update", "Update"}, TimeoutSeconds: ptr.To[int32](-1)}}},
			want: []string{
				path + `gates[0].operations[0]: Unsupported value: "Delete": supported values: "Replace", "ScaleDown", "Update"`,
				path + `gates[0].operations[2]: Duplicate value: "Update"`,
				path + "gates[0].timeoutSeconds: Invalid value: -1: must be greater than or equal to 0",
			},
		},
		"with too many gates": {
			disruption: v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{
				gate("a/1"), gate("a/2"), gate("a/3"), gate("a/4"), gate("a/5"), gate("a/6"), gate("a/7"), gate("a/8"), gate("a/9")}},
			want: []string{path + "gates: Too many: 9: must have at most 8 items"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			change := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.Disruption = &test.disruption }))
			verdict{want: test.want}.check(t, onUpdate(t, change))
		})
	}
}

func TestGatesBesideSteps(t *testing.T) {
	for sentence, test := range map[string]struct {
		gate string
		want []string
	}{
		"a gate that no step asks for is accepted": {gate: "example.com/handed-over"},
		"a gate that a step asks for": {
			gate: "example.com/healthy", want: []string{`spec.disruption.gates[0].conditionType: Invalid value: "example.com/healthy": ` +
				"must not be one of spec.updateStrategy.rollingUpdate.steps[1].podConditions: a request to the gate sets it to False, so the update would fail"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			change := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Disruption = &v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{{ConditionType: test.gate}}}
				s.UpdateStrategy = v1.StatefulSetUpdateStrategy{
					Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{
						Steps: []v1.RolloutStep{
							{Updated: intstr.FromInt32(1)}, {Updated: intstr.FromInt32(2), PodConditions: []string{"example.com/healthy"}}}}}
			}))
			verdict{want: test.want}.check(t, onUpdate(t, change))
		})
	}
}
