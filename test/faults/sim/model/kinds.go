// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Object is what a server stores. A stored object is never changed, only replaced.
type Object interface {
	metav1.Object
	runtime.Object
}

// The resources that a server may have.
var (
	Pods   = corev1.SchemeGroupVersion.WithResource("pods")
	Claims = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	// ConfigMaps and Secrets are what templates of objects describe.
	ConfigMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	Secrets    = corev1.SchemeGroupVersion.WithResource("secrets")
	Events     = corev1.SchemeGroupVersion.WithResource("events")
	Revisions  = appsv1.SchemeGroupVersion.WithResource("controllerrevisions")
	// Bindings represent everything that decides about requests, and the other kinds are always
	// empty.
	Bindings = admissionv1.SchemeGroupVersion.WithResource("validatingadmissionpolicybindings")
	Leases   = coordinationv1.SchemeGroupVersion.WithResource("leases")
	Sets     = v1.SchemeGroupVersion.WithResource("statefulsets")
)

// kind describes one resource.
type kind struct {
	gvk     schema.GroupVersionKind
	empty   func() Object
	newList func() runtime.Object
	// create prepares a new object, and update an object that replaces another one through a
	// subresource, which is empty for the object itself.
	create func(object Object, now time.Time)
	update func(object, old Object, subresource string, now time.Time)
	// grace returns the grace period of an object in seconds, given the period that the user has
	// requested. It is nil if the kind has no graceful deletion.
	grace func(object Object, asked *int64) int64
	// fields tracks the managers of fields, nil if no reader needs that.
	fields *managedfields.FieldManager
	// putCreates is true for a resource whose PUT creates missing objects.
	putCreates bool
}

func hostKinds() map[schema.GroupVersionResource]kind {
	all := objectKinds()
	maps.Copy(all, decidingKinds())
	return all
}

// decidingKinds returns the kinds on which the responses of the host cluster may depend. The model
// does not read their objects; the test that acts as the host cluster decides.
func decidingKinds() map[schema.GroupVersionResource]kind {
	plain := func(version schema.GroupVersion, named string, empty func() Object, newList func() runtime.Object) kind {
		return kind{gvk: version.WithKind(named), empty: empty, newList: newList}
	}
	return map[schema.GroupVersionResource]kind{
		Bindings: plain(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicyBinding",
			func() Object { return &admissionv1.ValidatingAdmissionPolicyBinding{} },
			func() runtime.Object { return &admissionv1.ValidatingAdmissionPolicyBindingList{} }),
		admissionv1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"): plain(admissionv1.SchemeGroupVersion,
			"ValidatingAdmissionPolicy",
			func() Object { return &admissionv1.ValidatingAdmissionPolicy{} },
			func() runtime.Object { return &admissionv1.ValidatingAdmissionPolicyList{} }),
		admissionv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"): plain(admissionv1.SchemeGroupVersion,
			"ValidatingWebhookConfiguration",
			func() Object { return &admissionv1.ValidatingWebhookConfiguration{} },
			func() runtime.Object { return &admissionv1.ValidatingWebhookConfigurationList{} }),
		admissionv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"): plain(admissionv1.SchemeGroupVersion,
			"MutatingWebhookConfiguration",
			func() Object { return &admissionv1.MutatingWebhookConfiguration{} },
			func() runtime.Object { return &admissionv1.MutatingWebhookConfigurationList{} }),
		corev1.SchemeGroupVersion.WithResource("namespaces"): plain(corev1.SchemeGroupVersion, "Namespace",
			func() Object { return &corev1.Namespace{} }, func() runtime.Object { return &corev1.NamespaceList{} }),
		corev1.SchemeGroupVersion.WithResource("limitranges"): plain(corev1.SchemeGroupVersion, "LimitRange",
			func() Object { return &corev1.LimitRange{} }, func() runtime.Object { return &corev1.LimitRangeList{} }),
	}
}

func objectKinds() map[schema.GroupVersionResource]kind {
	return map[schema.GroupVersionResource]kind{
		Pods: {
			gvk:     corev1.SchemeGroupVersion.WithKind("Pod"),
			empty:   func() Object { return &corev1.Pod{} },
			newList: func() runtime.Object { return &corev1.PodList{} },
			create:  createPod, update: updatePod, grace: podGrace,
		},
		Claims: {
			gvk:     corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
			empty:   func() Object { return &corev1.PersistentVolumeClaim{} },
			newList: func() runtime.Object { return &corev1.PersistentVolumeClaimList{} },
			create:  createClaim, update: updateClaim,
			fields: fieldManager(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")),
		},
		ConfigMaps: {
			gvk:     corev1.SchemeGroupVersion.WithKind("ConfigMap"),
			empty:   func() Object { return &corev1.ConfigMap{} },
			newList: func() runtime.Object { return &corev1.ConfigMapList{} },
			fields:  fieldManager(corev1.SchemeGroupVersion.WithKind("ConfigMap")),
		},
		Secrets: {
			gvk:     corev1.SchemeGroupVersion.WithKind("Secret"),
			empty:   func() Object { return &corev1.Secret{} },
			newList: func() runtime.Object { return &corev1.SecretList{} },
			fields:  fieldManager(corev1.SchemeGroupVersion.WithKind("Secret")),
		},
		Events: {
			gvk:     corev1.SchemeGroupVersion.WithKind("Event"),
			empty:   func() Object { return &corev1.Event{} },
			newList: func() runtime.Object { return &corev1.EventList{} },
		},
		Revisions: {
			gvk:     appsv1.SchemeGroupVersion.WithKind("ControllerRevision"),
			empty:   func() Object { return &appsv1.ControllerRevision{} },
			newList: func() runtime.Object { return &appsv1.ControllerRevisionList{} },
		},
		Leases: {
			gvk:     coordinationv1.SchemeGroupVersion.WithKind("Lease"),
			empty:   func() Object { return &coordinationv1.Lease{} },
			newList: func() runtime.Object { return &coordinationv1.LeaseList{} },

			putCreates: true,
		},
	}
}

func setKinds() map[schema.GroupVersionResource]kind {
	return map[schema.GroupVersionResource]kind{
		Sets: {
			gvk:     v1.SchemeGroupVersion.WithKind(v1.Kind),
			empty:   func() Object { return &v1.StatefulSet{} },
			newList: func() runtime.Object { return &v1.StatefulSetList{} },
			create:  createSet, update: updateSet,
		},
	}
}

func createPod(object Object, _ time.Time) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
}

func updatePod(object, old Object, subresource string, _ time.Time) {
	pod, before := object.(*corev1.Pod), old.(*corev1.Pod)
	if subresource == "status" {
		pod.Spec, pod.OwnerReferences = before.Spec, before.OwnerReferences
		return
	}
	pod.Status = before.Status
}

// podGrace returns 0 for a pod that no node runs, or that has finished.
func podGrace(object Object, asked *int64) int64 {
	pod := object.(*corev1.Pod)
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	if asked != nil {
		return *asked
	}
	return *pod.Spec.TerminationGracePeriodSeconds
}

// ProtectsClaim is the finalizer that keeps a claim while a pod uses it.
const ProtectsClaim = "kubernetes.io/pvc-protection"

func createClaim(object Object, _ time.Time) {
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return
	}
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	claim.Finalizers = append(claim.Finalizers, ProtectsClaim)
}

func updateClaim(object, old Object, subresource string, _ time.Time) {
	claim, before := object.(*corev1.PersistentVolumeClaim), old.(*corev1.PersistentVolumeClaim)
	if subresource == "status" {
		claim.Spec = before.Spec
		return
	}
	claim.Status = before.Status
}

func createSet(object Object, now time.Time) {
	set, ok := object.(*v1.StatefulSet)
	if !ok {
		return
	}
	v1.SetObjectDefaults_StatefulSet(set)
	set.Generation = 1
	set.Status = v1.StatefulSetStatus{Conditions: []v1.StatefulSetCondition{{
		Type: v1.StatefulSetReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(now), Reason: "Pending",
	}}}
}

func updateSet(object, old Object, subresource string, now time.Time) {
	set, before := object.(*v1.StatefulSet), old.(*v1.StatefulSet)
	if subresource == "status" {
		set.ObjectMeta, set.Spec = before.ObjectMeta, before.Spec
		return
	}
	v1.SetObjectDefaults_StatefulSet(set)
	set.Status = before.Status
	if !equality.Semantic.DeepEqual(before.Spec, set.Spec) {
		set.Generation = before.Generation + 1
		identity.RecordRemovedTemplates(set, before, metav1.NewTime(now))
	}
}
