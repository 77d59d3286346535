// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of this package.
const GroupName = "apps.statefulset.dev"

// SchemeGroupVersion is the group and version of the types of this package.
//
//nolint:gochecknoglobals // generated clients use it by this name
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// Kind is the kind of a StatefulSet in owner references.
const Kind = "StatefulSet"

// Resource returns a resource of this group, for errors and listers.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// GroupVersionKind returns the kind of a StatefulSet, for owner references.
func GroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind(Kind)
}

// Types returns an empty value of each type that is registered as an API kind. The server registers
// the same values as its hub version.
func Types() []runtime.Object {
	return []runtime.Object{&StatefulSet{}, &StatefulSetList{}, &StatefulSetPlan{}, &StatefulSetReplacement{}, &StatefulSetRollout{}}
}

// localSchemeBuilder collects what the generated files register.
//
//nolint:gochecknoglobals // the generated files use it by this name
var localSchemeBuilder runtime.SchemeBuilder

// AddToScheme registers the kinds of this package, their defaults and their
// validation rules.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, Types()...)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	if err := RegisterDefaults(scheme); err != nil {
		return err
	}
	return localSchemeBuilder.AddToScheme(scheme)
}
