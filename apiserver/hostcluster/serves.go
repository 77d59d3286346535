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

// questionTimeout limits one request about what the host cluster serves.
const questionTimeout = 10 * time.Second

// ServesPolicies asks the host cluster whether it has MutatingAdmissionPolicy in version v1. If the
// cluster serves nothing of this group and version, that is an error, because all supported
// versions of Kubernetes serve webhooks there.
func (h *Host) ServesPolicies(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	kinds := admissionregistrationv1.SchemeGroupVersion.String()
	served := &metav1.APIResourceList{}
	if err := h.Client.Discovery().RESTClient().Get().AbsPath("/apis/" + kinds).Do(ctx).Into(served); err != nil {
		return false, fmt.Errorf("reading what the host cluster at %s serves in %s: %w", h.Config.Host, kinds, err)
	}
	has := func(resource string) bool {
		return slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == resource })
	}
	return has("mutatingadmissionpolicies") && has("mutatingadmissionpolicybindings"), nil
}

// ReportVersion logs the version of the host cluster, and whether this server was tested with it.
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
		log.Info("Failed to read the version of the host cluster", "host", h.Config.Host, "err", err)
		return
	}
	if problem := version.UntestedHost(info.GitVersion); problem != "" {
		log.Info("The host cluster has a version with which this server was not tested", "host", h.Config.Host, "problem", problem)
		return
	}
	log.Info("Using the host cluster", "host", h.Config.Host, "version", info.GitVersion)
}
