// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestAnOrderOfUpdates(t *testing.T) {
	leader := metav1.LabelSelector{MatchLabels: map[string]string{"role": "leader"}}
	many := metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := range 17 {
		many.MatchLabels[fmt.Sprintf("role%d", i)] = "leader"
	}
	const path = "spec.updateStrategy.rollingUpdate.order."
	for sentence, test := range map[string]struct {
		order v1.UpdateOrder
		want  []string
	}{
		"that says nothing is accepted": {},
		"with all that it can have is accepted": {order: v1.UpdateOrder{Direction: v1.AscendingUpdateDirectionType,
			First: []v1.OrdinalRange{{First: 3}, {First: 0, Last: ptr.To[int32](1)}}, Last: []metav1.LabelSelector{leader}}},
		"in the direction of apps/v1 is accepted": {order: v1.UpdateOrder{Direction: v1.DescendingUpdateDirectionType}},
		"in a direction that there is not": {
			order: v1.UpdateOrder{Direction: "Sideways"},
			want:  []string{path + `direction: Unsupported value: "Sideways": supported values: "Ascending", "Descending"`},
		},
		"with canaries that overlap, end before they begin, or are none": {
			order: v1.UpdateOrder{
				First: []v1.OrdinalRange{{First: 2, Last: ptr.To[int32](4)}, {First: 3}, {First: 9, Last: ptr.To[int32](8)}, {First: -1}}},
			want: []string{
				path + `first[1]: Invalid value: "3": overlaps ` + path + "first[0], which is 2 to 4",
				path + "first[2].last: Invalid value: 8: must not be less than first (9)",
				path + "first[3].first: Invalid value: -1: must be greater than or equal to 0",
			},
		},
		"with too many canaries": {
			order: v1.UpdateOrder{First: apart(101)},
			want:  []string{path + "first: Too many: 101: must have at most 100 items"},
		},
		"with too many classes": {
			order: v1.UpdateOrder{Last: make([]metav1.LabelSelector, 9)},
			want:  []string{path + "last: Too many: 9: must have at most 8 items"},
		},
		"with a selector that matches all, and one that is no selector": {
			order: v1.UpdateOrder{
				Last: []metav1.LabelSelector{{}, leader, {MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "role", Operator: "Is"}}}}},
			want: []string{
				path + "last[0]: Invalid value: {}: must not be empty: an empty selector would match every member",
				path + `last[2].matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
			},
		},
		"with a selector of too many labels": {
			order: v1.UpdateOrder{Last: []metav1.LabelSelector{many}},
			want:  []string{path + "last[0]: Invalid value: 17: must have at most 16 labels and expressions"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			change := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate.Order = &test.order }))
			verdict{want: test.want}.check(t, onUpdate(t, change))
		})
	}
}

func TestAnOrderOfUpdatesThatDoNotRoll(t *testing.T) {
	set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
		s.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType,
			RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{Order: &v1.UpdateOrder{Direction: v1.AscendingUpdateDirectionType}}}
	}))
	errs := Validate(nil, set)
	const want = `only allowed with type "RollingUpdate", but type is "OnDelete"`
	if len(errs) != 1 || errs[0].Field != "spec.updateStrategy.rollingUpdate" || errs[0].Detail != want {
		t.Errorf("got %v, want one error of spec.updateStrategy.rollingUpdate: %s", errs, want)
	}
}

// apart are so many ranges, apart from each other.
func apart(n int) (ranges []v1.OrdinalRange) {
	for i := range n {
		ranges = append(ranges, v1.OrdinalRange{First: int32(10 * i)})
	}
	return ranges
}
