// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deployers returns the tools that deploy an object, according to its metadata. They would recreate
// a set that was moved to another API.
func deployers(object metav1.Object) []string {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	var found []string
	add := func(present bool, format string, values ...any) {
		if present {
			found = append(found, fmt.Sprintf(format, values...))
		}
	}
	argo := annotations["argocd.argoproj.io/tracking-id"]
	if argo == "" {
		argo = labels["argocd.argoproj.io/instance"]
	}
	add(argo != "" || managedBy(object, "argocd-controller", "argocd-application-controller"), "Argo CD (application %q)", argo)
	kustomization := labels["kustomize.toolkit.fluxcd.io/name"]
	add(kustomization != "" || managedBy(object, "kustomize-controller"), "Flux (kustomization %q)", kustomization)
	helmRelease := labels["helm.toolkit.fluxcd.io/name"]
	add(helmRelease != "" || managedBy(object, "helm-controller"), "Flux (helm release %q)", helmRelease)
	release := annotations["meta.helm.sh/release-name"]
	add(helmRelease == "" && (release != "" || labels["app.kubernetes.io/managed-by"] == "Helm" || managedBy(object, "helm")),
		"Helm (release %q)", release)
	return found
}

func managedBy(object metav1.Object, managers ...string) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource == "" && slices.Contains(managers, entry.Manager)
	})
}
