// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset"
)

// New returns a scheme with everything that the server decodes, defaults and validates.
//
// The generic server patches and watches through the version "__internal" of a group, whatever else
// is registered. This server serves one version, so its Go types are that version too. Only the
// server may know the types under this second name, and the order of registrations matters: where
// one name is needed, the first one counts.
func New() *runtime.Scheme {
	scheme := NewNaming()
	scheme.AddKnownTypes(Hub(v1.GroupName), v1.Types()...)
	scheme.AddKnownTypes(Hub(autoscalingv1.GroupName), &autoscalingv1.Scale{})
	utilruntime.Must(statefulset.AddProposals(scheme))
	return scheme
}

// NewNaming is New without the hub versions. OpenAPI takes the names of kinds from it: "__internal"
// must not be published.
func NewNaming() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1.AddToScheme(scheme))
	utilruntime.Must(autoscalingv1.AddToScheme(scheme))
	utilruntime.Must(scheme.SetVersionPriority(v1.SchemeGroupVersion))

	// The kinds that every group shares, such as Status and DeleteOptions.
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme
}

// Hub returns the version of a group that only the server knows.
func Hub(group string) schema.GroupVersion {
	return schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal}
}
