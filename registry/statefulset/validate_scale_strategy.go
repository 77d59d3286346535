// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

func validateScaleStrategy(strategy *v1.StatefulSetScaleStrategy, path *field.Path) field.ErrorList {
	if strategy == nil || strategy.MaxUnavailable == nil {
		return nil
	}
	return validateMaxUnavailable(*strategy.MaxUnavailable, "created", path.Child("maxUnavailable"))
}

// unpaced warns about a limit that has no effect, if it or the policy is new.
func unpaced(set, old *v1.StatefulSet) []string {
	strategy, policy := set.Spec.ScaleStrategy, set.Spec.PodManagementPolicy
	if strategy == nil || strategy.MaxUnavailable == nil || policy == v1.ParallelPodManagement ||
		old != nil && old.Spec.PodManagementPolicy == policy && equality.Semantic.DeepEqual(old.Spec.ScaleStrategy, strategy) {
		return nil
	}
	return []string{
		fmt.Sprintf(
			"spec.scaleStrategy.maxUnavailable: %s has no effect with podManagementPolicy %s, which creates and removes one member at a time; it applies to %s only", strategy.MaxUnavailable, policy, v1.ParallelPodManagement)}
}
