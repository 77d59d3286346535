// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// StorageClasses looks up StorageClasses of the host cluster for a warning.
type StorageClasses struct {
	client kubernetes.Interface
}

// NewStorageClasses prepares to look up StorageClasses of the host cluster.
func NewStorageClasses(client kubernetes.Interface) *StorageClasses { return &StorageClasses{client} }

// LacksStorageClass reports whether the host cluster has no StorageClass of a name. If the lookup
// fails, it returns false.
func (s *StorageClasses) LacksStorageClass(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	_, err := s.client.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}
