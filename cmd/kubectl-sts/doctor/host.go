// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/version"
)

// cluster checks the version of the host cluster, and reports features that sets cannot use on it.
// A missing feature is not a problem of the cluster.
func (e *examiner) cluster(ctx context.Context) []finding {
	const about = "cluster"
	host, err := e.host.Discovery().ServerVersion()
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	found := []finding{okFinding(about, "Kubernetes %s", host.GitVersion)}
	if problem := version.UntestedHost(host.GitVersion); problem != "" {
		found = []finding{warnFinding(about, problem, "kubectl sts version")}
	}
	// A finding of mere information must not use up the time of the next checks.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	served := &metav1.APIResourceList{}
	if err := e.host.Discovery().RESTClient().Get().AbsPath("/apis/" + admissionregistrationv1.SchemeGroupVersion.String()).Do(ctx).Into(
		served); err != nil {
		return append(found, skipFinding("admission policies", err))
	}
	return append(found, policies(served)...)
}

// policies reports which kinds of admission policies of the host cluster do not apply to sets.
func policies(served *metav1.APIResourceList) []finding {
	if slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == "mutatingadmissionpolicies" }) {
		return nil
	}
	return []finding{infoFinding("admission policies",
		"mutating admission policies are not applied to sets: the cluster does not serve them in version v1, which Kubernetes has from 1.36 on; validating policies and webhooks are applied")}
}
