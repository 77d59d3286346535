// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"

	appsv1 "statefulset.dev/api/apps/v1"
)

// asWriteOfStatus makes the rules apply to a request that a write of the status meets.
func asWriteOfStatus(ctx context.Context) context.Context {
	return genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true, APIGroup: appsv1.GroupName, APIVersion: appsv1.SchemeGroupVersion.Version, Resource: "statefulsets", Subresource: "status"})
}

// requestStrategy is the strategy for what the status notes of a request to a subresource:
// nothing but that is another.
type requestStrategy struct {
	statusStrategy
}

func (requestStrategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}

func (requestStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}
