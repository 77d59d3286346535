// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.statefulset.apps.v1
// +k8s:protobuf-gen=package
// +groupName=apps.statefulset.dev

// Package v1 contains the StatefulSet API: a superset of the wire format of the StatefulSet in
// apps/v1 of Kubernetes 1.37. Every field of apps/v1 has the same JSON name, protobuf number,
// default and meaning here, also when it is absent. Fields that only this group has use protobuf
// numbers from 1000 on.
package v1
