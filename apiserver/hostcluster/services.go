// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"statefulset.dev/store/logthrottle"
)

// A Service is often created just before the set that names it, so the lookup of an unknown Service
// waits this long, and polls at this interval.
const (
	serviceDelay = 250 * time.Millisecond
	servicePoll  = 10 * time.Millisecond
)

const (
	// lookupPatience limits a request to the host cluster for a warning.
	lookupPatience = time.Second
	// mostOfSelector limits the keys and values of a cached selector, in bytes.
	mostOfSelector = 4096
)

// Services are the headless Services of the host cluster, with their selectors. Nothing waits until
// they are known, because they are only used for a warning.
type Services struct {
	informer cache.SharedIndexInformer
	client   kubernetes.Interface
}

// NewServices prepares to watch the headless Services of the host cluster.
func NewServices(client kubernetes.Interface) (*Services, error) {
	headless := fields.OneTermEqualSelector("spec.clusterIP", corev1.ClusterIPNone).String()
	informer := coreinformers.NewFilteredServiceInformer(client, metav1.NamespaceAll, NoResync, cache.Indexers{},
		func(options *metav1.ListOptions) {
			options.FieldSelector = headless
		})
	err := informer.SetTransform(nameAndSelector)
	if err == nil {
		err = informer.SetWatchErrorHandlerWithContext(reportUnread())
	}
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of services: %w", err)
	}
	return &Services{informer, client}, nil
}

// reportUnread logs less and less often why Services cannot be read: the server works without them,
// and an operator may not want it to read them. The informer calls it in one goroutine, and retries
// with a back-off.
func reportUnread() cache.WatchErrorHandlerWithContext {
	var logged logthrottle.Throttle
	return func(ctx context.Context, _ *cache.Reflector, err error) {
		if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, io.EOF) {
			return // the informer continues by itself
		}
		if logged.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Info("Failed to read Services, so sets get no warnings about their serviceName; artifacts/rights/reads grants the right",
				"err", err)
		}
	}
}

// nameAndSelector keeps the name of a Service, and its selector unless that is very large.
func nameAndSelector(object any) (any, error) {
	service, ok := object.(*corev1.Service)
	if !ok {
		return object, nil
	}
	kept := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: service.Name, Namespace: service.Namespace, ResourceVersion: service.ResourceVersion}}
	kept.Spec.ClusterIP = corev1.ClusterIPNone
	size := 0
	for key, value := range service.Spec.Selector {
		size += len(key) + len(value)
	}
	if size <= mostOfSelector {
		kept.Spec.Selector = service.Spec.Selector
	}
	return kept, nil
}

// AddTo makes the server watch the Services while it runs.
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

// Service returns a Service of the host cluster, nil if it does not exist, and false if that is not
// known. A headless Service comes from the cache, without a very large selector. Only if the cache
// has none, Service asks the host cluster.
func (s *Services) Service(ctx context.Context, namespace, name string) (service *corev1.Service, known bool) {
	if !s.informer.HasSynced() {
		return nil, false
	}
	key := cache.NewObjectName(namespace, name).String()
	err := wait.PollUntilContextTimeout(ctx, servicePoll, serviceDelay, true, func(context.Context) (bool, error) {
		found, exists, err := s.informer.GetStore().GetByKey(key)
		service, _ = found.(*corev1.Service)
		return exists, err
	})
	if err == nil {
		return service, true
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	// The server may list Services, but not get them. A list by name is like a get.
	all, err := s.client.CoreV1().Services(namespace).List(ctx,
		metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()})
	if err != nil {
		return nil, false
	}
	for i := range all.Items {
		if all.Items[i].Name == name {
			return &all.Items[i], true
		}
	}
	return nil, true
}
