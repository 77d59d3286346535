// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func paced(policy v1.PodManagementPolicyType, value string) *v1.StatefulSet {
	return settest.Changed(func(set *v1.StatefulSet) {
		set.Spec.PodManagementPolicy = policy
		set.Spec.ScaleStrategy = &v1.StatefulSetScaleStrategy{}
		if value != "" {
			set.Spec.ScaleStrategy.MaxUnavailable = new(intstr.Parse(value))
		}
	})
}

func TestARateIsANumberOrAShare(t *testing.T) {
	const field = "spec.scaleStrategy.maxUnavailable: Invalid value: "
	for value, want := range map[string]string{
		"": "<nil>", "1": "<nil>", "1000000": "<nil>", "1%": "<nil>", "100%": "<nil>",
		"0":    field + "0: must not be 0: no member could ever be created",
		"-1":   field + "-1: must be greater than or equal to 0",
		"0%":   field + `"0%": must not be 0: no member could ever be created`,
		"101%": field + `"101%": must not be greater than 100%`,
		"two": field +
			`"two": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
	} {
		t.Run(fmt.Sprintf("of %q", value), func(t *testing.T) {
			if got := fmt.Sprint(Validate(nil, paced(v1.ParallelPodManagement, value)).ToAggregate()); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestARateThatHasNoEffectIsWarnedOf(t *testing.T) {
	const parallel, ordered = v1.ParallelPodManagement, v1.OrderedReadyPodManagement
	const warning = "spec.scaleStrategy.maxUnavailable: 2 has no effect with podManagementPolicy OrderedReady, which creates and removes one member at a time; it applies to Parallel only"
	for sentence, test := range map[string]struct {
		set, old *v1.StatefulSet
		want     []string
	}{
		"in a new ordered set":          {set: paced(ordered, "2"), want: []string{warning}},
		"given to an ordered set":       {set: paced(ordered, "2"), old: settest.Valid(), want: []string{warning}},
		"in a set that becomes so":      {set: paced(ordered, "2"), old: paced(parallel, "2"), want: []string{warning}},
		"not again in an ordered set":   {set: paced(ordered, "2"), old: paced(ordered, "2")},
		"not in a Parallel set":         {set: paced(parallel, "2")},
		"not without a number":          {set: paced(ordered, "")},
		"not in a set that has no rate": {set: settest.Valid()},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := unpaced(test.set, test.old); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
