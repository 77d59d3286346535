// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	manager = "kubectl-sts-install"
	poll    = 500 * time.Millisecond
)

// apply applies one object of the manifests. It takes over fields from all other field managers.
func (r *run) apply(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return fmt.Errorf("looking up the kind %s: %w", kind.Kind, err)
	}
	_, err = r.objects.Resource(mapping.Resource).Namespace(object.GetNamespace()).
		Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		return fmt.Errorf("applying %s %s: %w", kind.Kind, object.GetName(), err)
	}
	r.printf("applied %s %s", kind.Kind, object.GetName())
	return nil
}

// await returns when the Deployment has rolled out and the API answers.
func (r *run) await(ctx context.Context) error {
	last, said := error(nil), ""
	err := wait.PollUntilContextTimeout(ctx, poll, r.patience, true, func(ctx context.Context) (bool, error) {
		last = r.rolledOut(ctx)
		if last == nil {
			last = r.host.Discovery().RESTClient().Get().AbsPath("/apis/" + v1.SchemeGroupVersion.String()).Do(ctx).Error()
		}
		if last != nil && last.Error() != said {
			said = last.Error()
			r.printf("waiting: %s", said)
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s is not available after %s: %w; kubectl sts doctor finds the cause", v1.SchemeGroupVersion, r.patience,
			errors.Join(last, err))
	}
	r.printf("%s is available", v1.SchemeGroupVersion)
	return nil
}

// rolledOut returns an error until all servers run the Deployment of the manifests.
func (r *run) rolledOut(ctx context.Context) error {
	deployment, err := r.host.AppsV1().Deployments(namespace).Get(ctx, serverName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("getting the Deployment: %w", err)
	}
	wanted := *deployment.Spec.Replicas
	status := deployment.Status
	if status.ObservedGeneration < deployment.Generation || status.UpdatedReplicas < wanted || status.AvailableReplicas < wanted ||
		status.Replicas > wanted {
		return fmt.Errorf("%d of %d servers are updated, and %d available", status.UpdatedReplicas, wanted, status.AvailableReplicas)
	}
	return nil
}
