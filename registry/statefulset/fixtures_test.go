// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistrytest "k8s.io/apiserver/pkg/registry/generic/testing"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/utils/ptr"

	appsv1 "statefulset.dev/api/apps/v1"
)

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := appsv1.AddToScheme(scheme); err != nil {
		t.Fatalf("registering the API: %v", err)
	}
	return scheme
}

// newTestStorage is the storage of the server on an etcd that ends with the test.
func newTestStorage(t *testing.T) Storage {
	t.Helper()
	server, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	t.Cleanup(func() { server.Terminate(t) })

	scheme, version := newScheme(t), appsv1.SchemeGroupVersion
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	config.Codec = codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), version, version)
	config.EncodeVersioner = version

	storage, err := NewStorage(scheme, generic.RESTOptions{
		StorageConfig:           config.ForResource(appsv1.Resource("statefulsets")),
		Decorator:               generic.UndecoratedStorage,
		DeleteCollectionWorkers: 1,
		EnableGarbageCollection: true,
		ResourcePrefix:          "statefulsets",
	}, Preflight{}, nil)
	if err != nil {
		t.Fatalf("creating the storage: %v", err)
	}
	t.Cleanup(storage.StatefulSet.Destroy)
	return storage
}

// requestFor is the context of a request for a subresource, "" for the set.
func (s Storage) requestFor(subresource string) context.Context {
	if subresource == "" {
		return genericregistrytest.NewNamespaceScopeContext(s.StatefulSet.Store, metav1.NamespaceDefault)
	}
	return genericregistrytest.NewNamespaceScopeContext(s.StatefulSet.Store, metav1.NamespaceDefault, subresource)
}

// validSet is a set as it is after decoding: with defaults.
func validSet() *appsv1.StatefulSet {
	labels := map[string]string{"app": "web"}
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault, Labels: map[string]string{"a": "b"}},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    ptr.To[int32](3),
			ServiceName: "nginx",
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "prepare", Image: "busybox:1"}},
					Containers: []corev1.Container{{
						Name: "nginx", Image: "nginx:1",
						VolumeMounts: []corev1.VolumeMount{{Name: "www", MountPath: "/www"}, {Name: "tmp", MountPath: "/tmp"}},
					}},
					Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claimTemplate("www")},
		},
	}
	appsv1.SetObjectDefaults_StatefulSet(set)
	return set
}

func claimTemplate(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

// changed is a copy of validSet after some change.
func changed(change func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	set := validSet()
	change(set)
	return set
}
