// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset"
)

// rightful are the users of the table below: what each may do with which resources, in the whole
// cluster or in one namespace, which is the same here. The last may do everything.
func rightful() map[string]func(resource string) bool {
	only := func(resources ...string) func(string) bool {
		return func(resource string) bool { return slices.Contains(resources, resource) }
	}
	return map[string]func(string) bool{
		"nobody":  only(),
		"maps":    only("configmaps"),
		"secrets": only("secrets"),
		// As the host's role admin, which may give roles that it has itself.
		"admin": only("configmaps", "secrets", "services", "serviceaccounts", "pods", "persistentvolumeclaims", "endpoints", "events",
			"replicationcontrollers", "deployments.apps",
			"statefulsets.apps", "replicasets.apps", "daemonsets.apps", "jobs.batch", "cronjobs.batch", "poddisruptionbudgets.policy",
			"networkpolicies.networking.k8s.io", "ingresses.networking.k8s.io",
			"horizontalpodautoscalers.autoscaling", "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
			"localsubjectaccessreviews.authorization.k8s.io",
			"statefulsets.apps.statefulset.dev", "leases.coordination.k8s.io", "endpointslices.discovery.k8s.io",
			"rolebindings.authorization.openshift.io"),
		"root": func(string) bool { return true },
	}
}

// TestNobodyGetsObjectsThatTheyMayNotMake has each of five users describe each of these kinds, with a
// controller that may do everything. In the table are the users whose sets are accepted. The same users,
// and no others, may remove a template of the kind whose objects are deleted then, and swap a template that
// deletes nothing for one of another kind that does, if they may make and delete that kind, too.
func TestNobodyGetsObjectsThatTheyMayNotMake(t *testing.T) {
	const never = ""
	cluster := func(r metav1.APIResource) metav1.APIResource { r.Namespaced = false; return r }
	verbs := func(r metav1.APIResource, verbs ...string) metav1.APIResource { r.Verbs = verbs; return r }
	tests := []struct {
		served metav1.APIResource
		want   string
	}{
		{served("v1", "ConfigMap", "configmaps"), "admin maps root"},
		{served("v1", "Secret", "secrets"), "admin root secrets"},
		{served("v1", "Service", "services"), "admin root"},
		{served("v1", "ServiceAccount", "serviceaccounts"), "admin root"},
		{served("v1", "ReplicationController", "replicationcontrollers"), "admin root"},
		{served("v1", "ResourceQuota", "resourcequotas"), "root"},
		{served("v1", "LimitRange", "limitranges"), "root"},
		{served("apps/v1", "Deployment", "deployments"), "admin root"},
		{served("apps/v1", "StatefulSet", "statefulsets"), "admin root"},
		{served("apps/v1", "DaemonSet", "daemonsets"), "admin root"},
		{served("batch/v1", "Job", "jobs"), "admin root"},
		{served("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"), "admin root"},
		{served("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"), "admin root"},
		{served("networking.k8s.io/v1", "Ingress", "ingresses"), "admin root"},
		{served("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"), "admin root"},
		{served("coordination.k8s.io/v1", "Lease", "leases"), "admin root"},
		{served("cert-manager.io/v1", "Certificate", "certificates"), "root"},

		{served("v1", "Pod", "pods"), never},
		{served("v1", "PersistentVolumeClaim", "persistentvolumeclaims"), never},
		{cluster(served("v1", "PersistentVolume", "persistentvolumes")), never},
		{verbs(served("v1", "Binding", "bindings"), "create"), never},
		{cluster(served("v1", "Node", "nodes")), never},
		{cluster(served("v1", "Namespace", "namespaces")), never},
		{served("v1", "Event", "events"), never},
		{served("events.k8s.io/v1", "Event", "events"), never},
		{served("v1", "Endpoints", "endpoints"), never},
		{served("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"), never},
		{served("apps/v1", "ControllerRevision", "controllerrevisions"), never},
		{served("rbac.authorization.k8s.io/v1", "Role", "roles"), never},
		{served("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"), never},
		{served("rbac.authorization.k8s.io/v1beta1", "RoleBinding", "rolebindings"), never},
		{cluster(served("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles")), never},
		{cluster(served("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings")), never},
		{served("authorization.openshift.io/v1", "RoleBinding", "rolebindings"), never},
		{cluster(served("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations")), never},
		{cluster(served("apiregistration.k8s.io/v1", "APIService", "apiservices")), never},
		{cluster(served("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions")), never},
		{cluster(served("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests")), never},
		{served("certificates.k8s.io/v1beta1", "PodCertificateRequest", "podcertificaterequests"), never},
		{verbs(cluster(served("authentication.k8s.io/v1", "TokenReview", "tokenreviews")), "create"), never},
		{verbs(served("authorization.k8s.io/v1", "LocalSubjectAccessReview", "localsubjectaccessreviews"), "create"), never},
		{served("apps.statefulset.dev/v1", "StatefulSet", "statefulsets"), never},
		{served("backup.statefulset.dev/v1", "Backup", "backups"), never},
		{cluster(served("storage.k8s.io/v1", "StorageClass", "storageclasses")), never},
		{cluster(served("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses")), never},
		{verbs(served("metrics.k8s.io/v1beta1", "PodMetrics", "pods"), "get", "list"), never},
	}
	everything := func(_, _ string) bool { return true }
	host := &fakeHost{controller: everything, users: func(name, right string) bool {
		_, resource, _ := strings.Cut(right, " ")
		return rightful()[name](resource)
	}}
	for _, test := range tests {
		host.kinds = append(host.kinds, test.served)
	}
	plugin := host.plugin(t)
	accepts := func(set, old *v1.StatefulSet) string {
		var accepted []string
		for name := range rightful() {
			if len(statefulset.Validate(nil, set)) == 0 && plugin.Validate(t.Context(), asking(name, set, old, "", false), nil) == nil {
				accepted = append(accepted, name)
			}
		}
		slices.Sort(accepted)
		return strings.Join(accepted, " ")
	}
	remove, all := v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}, "admin maps nobody root secrets"
	for _, test := range tests {
		version, kind := metav1.GroupVersion{Group: test.served.Group, Version: test.served.Version}.String(), test.served.Kind
		this, other, ofOther := manifest(version, kind), manifest("v1", "ConfigMap"), "admin maps root"
		if this == other {
			other, ofOther = manifest("v1", "Secret"), "admin root secrets"
		}
		if got := accepts(describing(this), nil); got != test.want {
			t.Errorf("%s of %s: accepted from %q, want from %q", kind, version, got, test.want)
		}
		if test.want == never {
			continue
		}
		both := strings.Join(
			slices.DeleteFunc(strings.Fields(test.want), func(name string) bool { return !slices.Contains(strings.Fields(ofOther), name) }), " ")
		for sentence, write := range map[string]struct {
			old, set *v1.StatefulSet
			want     string
		}{
			"removed with deletion":                   {deleting(this, remove), describing(), test.want},
			"removed without deletion":                {describing(this), describing(), all},
			"swapped for another kind with deletion":  {describing(this), deleting(other, remove), both},
			"swapped for this kind with deletion":     {describing(other), deleting(this, remove), both},
			"swapped for another kind, deletion kept": {deleting(this, remove), deleting(other, remove), both},
			"swapped for another kind, deletion left": {deleting(this, remove), describing(other), ofOther},
		} {
			if got := accepts(noted(write.set, write.old), write.old); got != write.want {
				t.Errorf("%s of %s, %s: accepted from %q, want from %q", kind, version, sentence, got, write.want)
			}
		}
	}
}
