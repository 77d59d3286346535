// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// unreadable is the reason why a value cannot be read. The key is empty if it is not known.
type unreadable struct {
	key   string
	cause error
}

func (e *unreadable) Error() string {
	if e.key == "" {
		return e.cause.Error()
	}
	return fmt.Sprintf("the value of %s cannot be read: %v", e.key, e.cause)
}

func (e *unreadable) Unwrap() error { return e.cause }

// answer turns an error about a value that cannot be read into one that says what to do. It returns
// other errors unchanged.
func answer(err error, key string) error {
	var reason *unreadable
	if !errors.As(err, &reason) {
		return err
	}
	if reason.key != "" {
		key = reason.key
	}
	if isOutage(reason.cause) {
		return apierrors.NewInternalError(fmt.Errorf("the value of the etcd key %q cannot be decrypted now: %w", key, reason.cause))
	}
	namespace, name, _ := namesOf(key)
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInternalServerError,
		Reason:  metav1.StatusReasonStoreReadError,
		Message: message(namespace, name, key, reason.cause),
		Details: &metav1.StatusDetails{
			Group: v1.GroupName, Kind: "statefulsets", Name: name,
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Field: key, Message: reason.cause.Error()}},
		},
	}}
}

func message(namespace, name, key string, cause error) string {
	return fmt.Sprintf("the StatefulSet %q of namespace %q is damaged: the value of the etcd key %q cannot be read: %v; "+
		"the controller does not change its pods and claims; make it readable again (add the encryption key, or start a newer server), "+
		"or restore a backup, or delete exactly this value, which keeps pods and claims, with: "+
		"kubectl delete --raw '/apis/%s/namespaces/%s/statefulsets/%s?ignoreStoreReadErrorWithClusterBreakingPotential=true', and create the set again; "+
		"see docs/repair.md",
		name, namespace, key, cause, v1.SchemeGroupVersion, namespace, name)
}
