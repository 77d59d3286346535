//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources that a side is watched by.
const (
	sets      = "set"
	pods      = "pod"
	claims    = "claim"
	revisions = "revision"
	events    = "event"
	quotas    = "quota"
)

var (
	builtinSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	ourSets     = schema.GroupVersionResource{Group: "apps.statefulset.dev", Version: "v1", Resource: "statefulsets"}
)

// hostResources are those of the resources that both sides have in the host cluster.
func hostResources() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		pods:      {Version: "v1", Resource: "pods"},
		claims:    {Version: "v1", Resource: "persistentvolumeclaims"},
		revisions: {Group: "apps", Version: "v1", Resource: "controllerrevisions"},
		events:    {Version: "v1", Resource: "events"},
	}
}

// resource is what a word of a scenario stands for on this side.
func (s *side) resource(kind string) (schema.GroupVersionResource, error) {
	if kind == sets {
		return s.sets, nil
	}
	if kind == quotas {
		return schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}, nil
	}
	if resource, ok := hostResources()[kind]; ok {
		return resource, nil
	}
	return schema.GroupVersionResource{}, fmt.Errorf("unknown kind %q: it must be set, pod, claim, revision or quota", kind)
}
