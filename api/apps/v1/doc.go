// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.statefulset.apps.v1
// +k8s:protobuf-gen=package
// +groupName=apps.statefulset.dev

// Package v1 holds the StatefulSet that users write: a wire superset of the
// StatefulSet of Kubernetes' apps/v1 as of release 1.37. Every field of apps/v1
// has the same JSON name, protobuf number, default and meaning of absence here;
// fields that only this group has carry protobuf numbers from 1000 on.
package v1
