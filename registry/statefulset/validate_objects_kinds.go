// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// neverMade reports whether objects of a kind give their maker rights, or stand in for what
// the host or this server makes itself, so that no set may have them made.
func neverMade(kind schema.GroupVersionKind) bool {
	if group, ours := strings.CutSuffix(kind.Group, "statefulset.dev"); ours && (group == "" || strings.HasSuffix(group, ".")) {
		return true
	}
	switch kind.Group {
	case "rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiregistration.k8s.io", "apiextensions.k8s.io",
		"certificates.k8s.io", "authentication.k8s.io", "authorization.k8s.io":
		return true
	case "":
		return slices.Contains([]string{"Pod", "PersistentVolumeClaim", "PersistentVolume", "Binding", "Node", "Namespace", "Event", "Endpoints"}, kind.Kind)
	case "events.k8s.io":
		return true
	case "discovery.k8s.io":
		return kind.Kind == "EndpointSlice"
	case "apps":
		return kind.Kind == "ControllerRevision"
	default:
		return false
	}
}

// forbiddenSecretTypes are Secrets that the host trusts, or fills.
func forbiddenSecretTypes() []string {
	return []string{"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"}
}
