// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/storage"
)

// explainVersion turns the error for an invalid resourceVersion into a client error. The storage
// layer has an error for it that the generic server does not know.
func explainVersion(err error) error {
	if _, ok := errors.AsType[storage.InvalidError](err); !ok {
		return err
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%v; use the resourceVersion of a list, a watch or an object, or 0, or omit it", err))
}

// explainTooLarge says that etcd cannot store a set of this size, which is not an error of the
// server. There are two limits: that of etcd for a request, and a higher one of its client for a
// message.
func explainTooLarge(err error) error {
	if err == nil || !isTooLarge(err) {
		return err
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
		"etcd does not store a set of this size: %v; the limit is 1.5 MiB unless etcd runs with another --max-request-bytes; move large texts, such as environment variables, to ConfigMaps", err))
}

func isTooLarge(err error) bool {
	if fromEtcd, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return errors.Is(fromEtcd, rpctypes.ErrRequestTooLarge)
	}
	return status.Code(err) == codes.ResourceExhausted && !errors.Is(err, rpctypes.ErrGRPCNoSpace)
}
