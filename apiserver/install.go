// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/scheme"
	"statefulset.dev/registry/statefulset"
)

// apiGroup returns the resources that are served under /apis, and the function that follows the
// sets in the store while the server runs.
func apiGroup(config *Config, getter generic.RESTOptionsGetter) (_ *genericapiserver.APIGroupInfo, follow func(context.Context), _ error) {
	var cluster statefulset.Cluster
	if config.Services != nil {
		cluster = struct {
			*hostcluster.Services
			*hostcluster.StorageClasses
		}{config.Services, config.StorageClasses}
	}
	var turns statefulset.Turns
	if config.Planner != nil {
		turns = config.Planner
	}
	sets, err := statefulset.NewStorage(config.scheme, getter, config.Preflight, cluster, turns)
	if err != nil {
		return nil, nil, err
	}
	if config.Room != nil {
		sets.LimitWrites(config.Room)
	}
	if config.Guard != nil {
		sets.Refuse(config.Guard.Unknown)
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(v1.GroupName, config.scheme, runtime.NewParameterCodec(config.scheme), config.codecs)
	group.NegotiatedSerializer = scheme.TextOnly(group.NegotiatedSerializer)
	served := map[string]rest.Storage{
		"statefulsets":        sets.StatefulSet,
		"statefulsets/status": sets.Status,
		"statefulsets/scale":  sets.Scale,
	}
	if config.Planner != nil {
		served["statefulsets/plan"] = statefulset.NewPlanREST(sets.StatefulSet, config.scheme, config.Planner)
		served["statefulsets/rollout"] = statefulset.NewRolloutREST(sets.Status, config.scheme, config.Planner)
		served["statefulsets/replace"] = statefulset.NewReplaceREST(sets.Status, config.scheme, config.Planner)
	}
	group.VersionedResourcesStorageMap[v1.SchemeGroupVersion.Version] = served
	return &group, sets.LimitKinds(), nil
}
