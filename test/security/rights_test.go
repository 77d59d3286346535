//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"statefulset.dev/test/harness"
)

const (
	system     = "statefulset-system"
	serverName = "system:serviceaccount:" + system + ":statefulset-apiserver"
	tryingName = "system:serviceaccount:" + system + ":statefulset-preflight"
)

// unseen are rights that no request shows, by resource and verb, and why they are needed.
// The server of this suite is given its certificate, and does not make it.
func unseen() map[string]string {
	const ofTLS = "of a server that makes its certificate itself, and of that one object"
	const decides = "watched from the first refusal on that may depend on it"
	return map[string]string{
		"/secrets get": ofTLS, "/secrets list": ofTLS, "/secrets watch": ofTLS, "/secrets update": ofTLS,
		"apiregistration.k8s.io/apiservices get": ofTLS, "apiregistration.k8s.io/apiservices list": ofTLS,
		"apiregistration.k8s.io/apiservices watch": ofTLS, "apiregistration.k8s.io/apiservices patch": ofTLS,
		"apps.statefulset.dev/statefulsets/finalizers update":   "asked for by OwnerReferencesPermissionEnforcement, which is on here, before a pod may name a set that waits for it",
		"/pods/finalizers update":                               "asked for by OwnerReferencesPermissionEnforcement before a claim may name a pod that waits for it",
		"storage.k8s.io/storageclasses get":                     "for a set whose claim templates name a StorageClass",
		"/namespaces get":                                       "for a namespace that the cache does not have yet",
		"/pods get":                                             "a live look before a pod is adopted or released whose cached state is in doubt",
		"apps/controllerrevisions get":                          "a live look when a revision of a name exists that the cache does not have yet",
		"apps/controllerrevisions patch":                        "for a revision that is rolled back to, or adopted",
		"flowcontrol.apiserver.k8s.io/flowschemas/status patch": "marks a flow schema whose priority level is missing",
		"/configmaps create":                                    "the note about the store is made once in the life of a cluster",
		"coordination.k8s.io/leases create":                     "the lease is made once in the life of a cluster",
		"/persistentvolumeclaims patch":                         "gives claims an owner when the retention policy says so; where OwnerReferencesPermissionEnforcement is on, as here, the host asks for delete on claims as well, which is not granted",
		"/pods patch":                                           "adopts and releases pods",
		"/pods/status patch":                                    "asks the gates of sets that have some, and withdraws what was asked",
		"/pods/resize patch":                                    "gives members other cpu and memory, of sets that are updated in place",
		"/pods/eviction create":                                 "removes members of sets that ask for evictions, and asks before it restarts them in place",
		"/limitranges list":                                     decides, "/limitranges watch": decides, "/serviceaccounts list": decides,
		"/serviceaccounts watch":           decides,
		"policy/poddisruptionbudgets list": decides, "policy/poddisruptionbudgets watch": decides,
		"scheduling.k8s.io/priorityclasses list": decides, "scheduling.k8s.io/priorityclasses watch": decides,
		"node.k8s.io/runtimeclasses list": decides, "node.k8s.io/runtimeclasses watch": decides,
		"storage.k8s.io/storageclasses list": decides, "storage.k8s.io/storageclasses watch": decides,
		"/events patch": "counts an event that comes again",
	}
}

// TestEveryRightIsNeededAndNoneIsMissing plays the life of a set, with claims, a rollout,
// a quota and an adoption, and compares what the host was asked with what the manifests
// grant.
func TestEveryRightIsNeededAndNoneIsMissing(t *testing.T) {
	w := shared(t)
	w.playLife(t)

	used := map[string]bool{}
	for _, event := range events(t, w.hostAudit(), func(e *auditv1.Event) bool {
		return e.User.Username == serverName && e.ObjectRef != nil && e.RequestReceivedTimestamp.After(w.since)
	}) {
		at := event.RequestReceivedTimestamp.Time
		lacking := slices.ContainsFunc(w.lacking, func(p period) bool { return at.After(p.from) && at.Before(p.until) })
		if event.Annotations["authorization.k8s.io/decision"] == "forbid" && !lacking {
			t.Errorf("the host forbade our server to %s %s: %s", event.Verb, event.RequestURI, event.Annotations["authorization.k8s.io/reason"])
		}
		used[rightOf(event.ObjectRef.APIGroup, event.ObjectRef.Resource, event.ObjectRef.Subresource, event.Verb)] = true
	}
	granted, ofAny := w.granted(t)
	explained := unseen()
	var idle []string
	for right := range granted {
		informed := strings.TrimSuffix(right, " list")
		if informed != right && used[informed+" watch"] {
			continue // an informer lists where the host cannot stream, or when a stream breaks
		}
		if !used[right] && explained[right] == "" && !strings.Contains(right, "impersonate") {
			idle = append(idle, right)
		}
	}
	slices.Sort(idle)
	if len(idle) > 0 {
		t.Errorf("rights that were granted, not used and not explained: got %q, want none", idle)
	}
	for right := range explained {
		if !granted[right] {
			t.Errorf("%s is explained and not granted, want no explanation of what is not there", right)
		}
	}
	for _, taboo := range []string{"/secrets create", "/secrets get", "/secrets list", "/secrets watch", "/nodes get", "/nodes list",
		"apps/statefulsets get", "/persistentvolumeclaims delete", "/pods deletecollection", "/persistentvolumeclaims deletecollection"} {
		if ofAny[taboo] {
			t.Errorf("the manifests grant %s on objects of any name, want that they do not", taboo)
		}
	}
	for right := range granted {
		if strings.Contains(right, "*") {
			t.Errorf("the manifests grant %s, want no wildcard", right)
		}
	}
	t.Logf("%d rights granted, %d of them used, the others explained; 0 refused", len(granted), len(granted)-countUnused(granted, used))
}

func countUnused(granted, used map[string]bool) (count int) {
	for right := range granted {
		if !used[right] {
			count++
		}
	}
	return count
}

// rightOf names a right. The core group is empty.
func rightOf(group, resource, subresource, verb string) string {
	if subresource != "" {
		resource += "/" + subresource
	}
	return group + "/" + resource + " " + verb
}

// granted are the rights of our server's account, those of the cluster's own roles left
// out, and which of them are not limited to objects by name.
func (w *world) granted(t *testing.T) (rights, ofAny map[string]bool) {
	t.Helper()
	rights, ofAny = map[string]bool{}, map[string]bool{}
	add := func(rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						right := group + "/" + resource + " " + verb
						rights[right] = true
						ofAny[right] = ofAny[right] || len(rule.ResourceNames) == 0
					}
				}
			}
		}
	}
	ours := func(subjects []rbacv1.Subject) bool {
		return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
			return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == system && s.Name == "statefulset-apiserver"
		})
	}
	rbac := w.Host.RbacV1()
	everywhere, err := rbac.ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing bindings: %v", err)
	}
	for _, binding := range everywhere.Items {
		if !ours(binding.Subjects) || strings.HasPrefix(binding.RoleRef.Name, "system:") {
			continue
		}
		role, err := rbac.ClusterRoles().Get(t.Context(), binding.RoleRef.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("getting a role: %v", err)
		}
		add(role.Rules)
	}
	within, err := rbac.RoleBindings(system).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing bindings: %v", err)
	}
	for _, binding := range within.Items {
		if !ours(binding.Subjects) || binding.RoleRef.Kind != "Role" {
			continue
		}
		role, err := rbac.Roles(system).Get(t.Context(), binding.RoleRef.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("getting a role: %v", err)
		}
		add(role.Rules)
	}
	if len(rights) < 20 {
		t.Fatalf("the manifests grant %d rights, want at least 20", len(rights))
	}
	return rights, ofAny
}

// playLife uses what a set may need: claims that go with it, updates until history is
// cut, a scale down, a quota, and pods that are orphaned and adopted.
func (w *world) playLife(t *testing.T) {
	t.Helper()
	ns := w.Namespace(t, "security")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "some"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/statefulsets.apps.statefulset.dev": resource.MustParse("5")}}}
	if _, err := w.Host.CoreV1().ResourceQuotas(ns).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a quota: %v", err)
	}
	harness.Eventually(t, "the quota is counted", func(ctx context.Context) error {
		got, err := w.Host.CoreV1().ResourceQuotas(ns).Get(ctx, "some", metav1.GetOptions{})
		if err == nil && len(got.Status.Hard) == 0 {
			err = fmt.Errorf("got %+v", got.Status)
		}
		return err
	})
	set := harness.NewSet("life", 2)
	set.Spec.RevisionHistoryLimit = new(int32(0))
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}}
	set.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	w.create(t, ns, set)
	w.awaitReady(t, ns, "life", 2)
	sets := w.Sets.AppsV1().StatefulSets(ns)
	change := func(patch string) {
		t.Helper()
		if _, err := sets.Patch(t.Context(), "life", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatalf("changing the set: %v", err)
		}
	}
	change(`{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`)
	w.awaitReady(t, ns, "life", 2)
	change(`{"spec":{"template":{"metadata":{"annotations":{"a":"c"}}}}}`)
	w.awaitReady(t, ns, "life", 2)
	change(`{"spec":{"replicas":1}}`)
	w.awaitReady(t, ns, "life", 1)
	before := w.pods(t, ns)
	if err := sets.Delete(t.Context(), "life", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}); err != nil {
		t.Fatalf("deleting the set without its pods: %v", err)
	}
	harness.Eventually(t, "the pods have no owner", func(ctx context.Context) error {
		pod, err := w.Host.CoreV1().Pods(ns).Get(ctx, "life-0", metav1.GetOptions{})
		if err == nil && len(pod.OwnerReferences) > 0 {
			err = fmt.Errorf("got %+v", pod.OwnerReferences)
		}
		return err
	})
	harness.Eventually(t, "the set is gone", func(ctx context.Context) error {
		if _, err := sets.Get(ctx, "life", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %v, want not found", err) //nolint:errorlint // it may be nil
		}
		return nil
	})
	set.Spec.Template.Annotations = map[string]string{"a": "c"} // as the pod is by now
	set.ResourceVersion, set.Spec.Replicas = "", new(int32(1))
	w.create(t, ns, set)
	w.awaitReady(t, ns, "life", 1)
	if after := w.pods(t, ns); before["life-0"] == "" || after["life-0"] != before["life-0"] {
		t.Errorf("the adopted pod: got UID %q, want %q", after["life-0"], before["life-0"])
	}
}
