// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func inPlace(policy v1.InPlaceUpdatePolicyType) func(*v1.StatefulSet) {
	return settest.Spec(func(s *v1.StatefulSetSpec) {
		s.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: policy}
	})
}

func TestAnUpdateInPlaceHasAPolicy(t *testing.T) {
	const field = "spec.updateStrategy.rollingUpdate.inPlace.policy: "
	for policy, want := range map[v1.InPlaceUpdatePolicyType][]string{
		v1.IfPossibleInPlaceUpdatePolicyType: nil,
		v1.OnlyInPlaceUpdatePolicyType:       nil,
		"":                                   {field + "Required value"},
		"Always":                             {field + `Unsupported value: "Always": supported values: "IfPossible", "Only"`},
	} {
		t.Run("of "+string(policy), func(t *testing.T) {
			verdict{want: want}.check(t, onUpdate(t, settest.Changed(inPlace(policy))))
		})
	}
}

func TestADrainTakesNoLongerThanPeopleWait(t *testing.T) {
	const field = "spec.updateStrategy.rollingUpdate.inPlace.drainSeconds: "
	for sentence, test := range map[string]struct {
		seconds int32
		want    []string
	}{
		"no time":           {0, nil},
		"an hour":           {3600, nil},
		"more than an hour": {3601, []string{field + "Invalid value: 3601: must be 0 to 3600"}},
		"less than no time": {-1, []string{field + "Invalid value: -1: must be 0 to 3600"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			drains := settest.Spec(func(s *v1.StatefulSetSpec) {
				s.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType, DrainSeconds: &test.seconds}
			})
			verdict{want: test.want}.check(t, onUpdate(t, settest.Changed(drains)))
		})
	}
}

func TestATemplateThatNoMemberCanBeGivenIsWarnedOf(t *testing.T) {
	env := func(set *v1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}}
	}
	image := func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = "nginx:2" }
	const warning = "spec.updateStrategy.rollingUpdate.inPlace.policy: with Only, no member gets the changed template: spec.containers[0].env differs, and that cannot be changed in place; delete the pods so that they are recreated, or set IfPossible"
	for sentence, test := range map[string]struct {
		policy v1.InPlaceUpdatePolicyType
		change func(*v1.StatefulSet)
		want   string
	}{
		"of an environment, with Only":           {v1.OnlyInPlaceUpdatePolicyType, env, warning},
		"not of an image, with Only":             {v1.OnlyInPlaceUpdatePolicyType, image, ""},
		"not of an environment, with IfPossible": {v1.IfPossibleInPlaceUpdatePolicyType, env, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			old := settest.Changed(inPlace(test.policy))
			set := old.DeepCopy()
			test.change(set)
			if got := strings.Join(warnings(t.Context(), set, old, services{"nginx": true}), "\n"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
