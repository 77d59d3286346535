// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"errors"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestAStorageClassIsMissingOnlyIfTheHostSaysSo(t *testing.T) {
	host := fake.NewClientset(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}})
	classes := NewStorageClasses(host)
	for name, want := range map[string]bool{"fast": false, "absent": true} {
		if got := classes.LacksStorageClass(t.Context(), name); got != want {
			t.Errorf("StorageClass %s is missing: got %t, want %t", name, got, want)
		}
	}
	host.PrependReactor("get", "storageclasses",
		func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	if classes.LacksStorageClass(t.Context(), "absent") {
		t.Error("the host does not answer: got that the StorageClass is missing, want that this is not known")
	}
}
