// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/scheme"

	v1 "statefulset.dev/api/apps/v1"
)

// pauser pauses the updates of a set. kubectl sends the difference as a patch.
func pauser(others polymorphichelpers.ObjectPauserFunc) polymorphichelpers.ObjectPauserFunc {
	return func(object runtime.Object) ([]byte, error) {
		set, ok := object.(*v1.StatefulSet)
		if !ok {
			return others(object)
		}
		strategy := &set.Spec.UpdateStrategy
		switch {
		case strategy.Type != v1.RollingUpdateStatefulSetStrategyType:
			return nil, fmt.Errorf("only updates of the strategy %s can be paused, but the strategy is %s", v1.RollingUpdateStatefulSetStrategyType,
				strategy.Type)
		case strategy.RollingUpdate != nil && strategy.RollingUpdate.IsPaused():
			return nil, errors.New("is already paused")
		case strategy.RollingUpdate == nil:
			strategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{}
		}
		strategy.RollingUpdate.Paused = new(true)
		return encoded(set)
	}
}

// resumer resumes the updates of a set. It removes the block rollingUpdate if nothing else is in
// it, because the server would fill in its defaults.
func resumer(others polymorphichelpers.ObjectPauserFunc) polymorphichelpers.ObjectPauserFunc {
	return func(object runtime.Object) ([]byte, error) {
		set, ok := object.(*v1.StatefulSet)
		if !ok {
			return others(object)
		}
		rolling := set.Spec.UpdateStrategy.RollingUpdate
		if rolling == nil || !rolling.IsPaused() {
			return nil, errors.New("is not paused")
		}
		rolling.Paused = nil
		if equality.Semantic.DeepEqual(*rolling, v1.RollingUpdateStatefulSetStrategy{}) {
			set.Spec.UpdateStrategy.RollingUpdate = nil
		}
		return encoded(set)
	}
}

func encoded(set *v1.StatefulSet) ([]byte, error) {
	document, err := runtime.Encode(scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), set)
	if err != nil {
		return nil, fmt.Errorf("encoding StatefulSet %q: %w", set.Name, err)
	}
	return document, nil
}
