// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// A Service is often created just before the set that names it, so one that is not known is
// waited for this long, and looked for this often.
const (
	serviceDelay = 250 * time.Millisecond
	servicePoll  = 10 * time.Millisecond
)

// Services are the names of the host's headless Services. Nothing waits for them to
// be known: they serve for a warning only.
type Services struct {
	informer cache.SharedIndexInformer
}

// NewServices prepares to follow the headless Services of a host.
func NewServices(client kubernetes.Interface) (*Services, error) {
	headless := fields.OneTermEqualSelector("spec.clusterIP", corev1.ClusterIPNone).String()
	informer := coreinformers.NewFilteredServiceInformer(client, metav1.NamespaceAll, NoResync, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = headless
	})
	if err := informer.SetTransform(nameOnly); err != nil {
		return nil, fmt.Errorf("preparing the watch of services: %w", err)
	}
	return &Services{informer}, nil
}

// nameOnly keeps of a Service by what it is found.
func nameOnly(object any) (any, error) {
	service, ok := object.(*corev1.Service)
	if !ok {
		return object, nil
	}
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: service.Name, Namespace: service.Namespace, ResourceVersion: service.ResourceVersion}}, nil
}

// AddTo makes the server follow the Services while it runs.
func (s *Services) AddTo(server *genericapiserver.GenericAPIServer) error {
	err := server.AddPostStartHook("watch-headless-services", func(hook genericapiserver.PostStartHookContext) error {
		go s.informer.RunWithContext(hook)
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding the watch of services: %w", err)
	}
	return nil
}

// Headless reports whether a Service is known, or may exist because not all are known yet.
func (s *Services) Headless(ctx context.Context, namespace, name string) bool {
	if !s.informer.HasSynced() {
		return true
	}
	key := cache.NewObjectName(namespace, name).String()
	err := wait.PollUntilContextTimeout(ctx, servicePoll, serviceDelay, true, func(context.Context) (bool, error) {
		_, known, err := s.informer.GetStore().GetByKey(key)
		return known, err
	})
	return err == nil
}
