// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// endpoints checks that the service has a server.
func (e *examiner) endpoints(ctx context.Context) []finding {
	about := fmt.Sprintf("service %s/statefulset-apiserver", e.system)
	service, err := e.host.CoreV1().Services(e.system).Get(ctx, "statefulset-apiserver", metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []finding{failFinding(about, "does not exist", "kubectl apply -k artifacts/base")}
	case err != nil:
		return []finding{skipFinding(about, err)}
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return []finding{okFinding(about, "points to %s, outside the cluster", service.Spec.ExternalName)}
	}
	slices, err := e.host.DiscoveryV1().EndpointSlices(e.system).List(ctx, metav1.ListOptions{
		LabelSelector: discoveryv1.LabelServiceName + "=" + service.Name,
	})
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	ready, all := countEndpoints(slices.Items)
	if ready == 0 {
		return []finding{failFinding(about, fmt.Sprintf("none of %d servers is ready", all),
			"kubectl -n "+e.system+" get pods", "kubectl -n "+e.system+" logs deployment/statefulset-apiserver")}
	}
	if ready < all {
		return []finding{warnFinding(about, fmt.Sprintf("%d of %d servers are ready", ready, all), "kubectl -n "+e.system+" get pods")}
	}
	return []finding{okFinding(about, "%d of %d servers are ready", ready, all)}
}

// countEndpoints counts addresses. An address without the condition Ready is ready.
func countEndpoints(slices []discoveryv1.EndpointSlice) (ready, all int) {
	for _, slice := range slices {
		for _, endpoint := range slice.Endpoints {
			all += len(endpoint.Addresses)
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				ready += len(endpoint.Addresses)
			}
		}
	}
	return ready, all
}
