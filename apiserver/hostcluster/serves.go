// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/klog/v2"

	"statefulset.dev/version"
)

// questionTimeout bounds one question about what the host serves.
const questionTimeout = 10 * time.Second

// ServesPolicies asks the host whether it has MutatingAdmissionPolicy in version v1.
// That a host has nothing of this group and version is an error: since long before
// what we support, all have webhooks there.
func (h *Host) ServesPolicies(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	kinds := admissionregistrationv1.SchemeGroupVersion.String()
	served := &metav1.APIResourceList{}
	if err := h.Client.Discovery().RESTClient().Get().AbsPath("/apis/" + kinds).Do(ctx).Into(served); err != nil {
		return false, fmt.Errorf("asking the host cluster at %s what it serves of %s: %w", h.Config.Host, kinds, err)
	}
	has := func(resource string) bool {
		return slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == resource })
	}
	return has("mutatingadmissionpolicies") && has("mutatingadmissionpolicybindings"), nil
}

// ReportVersion logs the host's version, and whether we know it.
func (h *Host) ReportVersion(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	log := klog.FromContext(ctx)
	var info apimachineryversion.Info
	raw, err := h.Client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err == nil {
		err = json.Unmarshal(raw, &info)
	}
	if err != nil {
		log.Info("Could not ask for the version of the host cluster", "host", h.Config.Host, "err", err)
		return
	}
	if problem := version.UntestedHost(info.GitVersion); problem != "" {
		log.Info("The version of the host cluster is not one that this was tested with", "host", h.Config.Host, "problem", problem)
		return
	}
	log.Info("Host cluster", "host", h.Config.Host, "version", info.GitVersion)
}
