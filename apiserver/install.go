// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset"
)

// apiGroup is the table of contents of what is served under /apis.
func apiGroup(scheme *runtime.Scheme, codecs serializer.CodecFactory, getter generic.RESTOptionsGetter, preflight statefulset.Preflight, planner Planner, room *room) (*genericapiserver.APIGroupInfo, error) {
	sets, err := statefulset.NewStorage(scheme, getter, preflight)
	if err != nil {
		return nil, err
	}
	if room != nil {
		sets.LimitWrites(room)
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(appsv1.GroupName, scheme, runtime.NewParameterCodec(scheme), codecs)
	group.NegotiatedSerializer = textOnly{codecs}
	served := map[string]rest.Storage{
		"statefulsets":        sets.StatefulSet,
		"statefulsets/status": sets.Status,
		"statefulsets/scale":  sets.Scale,
	}
	if planner != nil {
		served["statefulsets/plan"] = statefulset.NewPlanREST(sets.StatefulSet, scheme, planner)
	}
	group.VersionedResourcesStorageMap[appsv1.SchemeGroupVersion.Version] = served
	return &group, nil
}
