// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/scheme"
)

func text(format string, args ...any) io.Reader {
	return strings.NewReader(fmt.Sprintf(format, args...))
}

// setWith is a whole set after a change.
func setWith(t *testing.T, change func(*v1.StatefulSet)) *v1.StatefulSet {
	t.Helper()
	set := Web("hostile")
	set.TypeMeta = metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind}
	change(set)
	return set
}

func jsonOf(t *testing.T, change func(*v1.StatefulSet)) io.Reader {
	t.Helper()
	body, err := json.Marshal(setWith(t, change))
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	return bytes.NewReader(body)
}

func protobufOf(t *testing.T, change func(*v1.StatefulSet)) io.Reader {
	t.Helper()
	return bytes.NewReader(Encoded(t, serializer.NewCodecFactory(scheme.New()), runtime.ContentTypeProtobuf, setWith(t, change)))
}

func withEnv(count, size int) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		for i := range count {
			set.Spec.Template.Spec.Containers[0].Env = append(set.Spec.Template.Spec.Containers[0].Env,
				corev1.EnvVar{Name: fmt.Sprintf("E%d", i), Value: strings.Repeat("x", size)})
		}
	}
}

// emptyContainers is a set in protobuf with containers that say nothing.
func emptyContainers(t *testing.T, count int) io.Reader {
	t.Helper()
	return protobufOf(t, func(set *v1.StatefulSet) {
		set.Spec.Template.Spec.Containers = make([]corev1.Container, count)
	})
}
