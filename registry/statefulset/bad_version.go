// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/storage"
)

// explainVersion makes a resourceVersion that is no version the sender's fault. The
// storage layer has an error for it that the generic server does not know.
func explainVersion(err error) error {
	if _, ok := errors.AsType[storage.InvalidError](err); !ok {
		return err
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%v; use a resourceVersion that a list, a watch or an object gave, 0, or none", err))
}
