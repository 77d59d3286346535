// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissioninformers "k8s.io/client-go/informers/admissionregistration/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	nodeinformers "k8s.io/client-go/informers/node/v1"
	policyinformers "k8s.io/client-go/informers/policy/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/plan"
)

// influencingKind is a kind of object that influences the cluster's answers to requests.
type influencingKind struct {
	name        string
	newInformer func() cache.SharedIndexInformer
	// concerns reports whether an answer may depend on objects of this kind.
	concerns func(answer error) bool
	// matters reports whether the answer may be another one after a change. before is nil for a new
	// object, after for a deleted one.
	matters func(before, after *influencingObject) bool
}

// influencingObject is what the cache keeps of an object of such a kind.
type influencingObject struct {
	metav1.ObjectMeta
	// allowed is how many evictions a budget allows.
	allowed int32
}

// trim keeps the fields that matters compares.
func (d *influencingKind) trim(object any) any {
	about, err := meta.Accessor(object)
	if err != nil {
		return object
	}
	kept := &influencingObject{ObjectMeta: metav1.ObjectMeta{
		Namespace: about.GetNamespace(), Name: about.GetName(), UID: about.GetUID(), ResourceVersion: about.GetResourceVersion(),
		Generation: about.GetGeneration(), Labels: about.GetLabels(),
	}}
	if budget, ok := object.(*policyv1.PodDisruptionBudget); ok {
		kept.allowed = budget.Status.DisruptionsAllowed
	}
	return kept
}

// change reports whether a change matters, and in which namespace. An empty namespace stands for
// all.
func (d *influencingKind) change(before, after any) (matters bool, namespace string) {
	was, _ := before.(*influencingObject)
	is, _ := after.(*influencingObject)
	either := is
	if either == nil {
		either = was
	}
	if either == nil || !d.matters(was, is) {
		return false, ""
	}
	if d.name == namespaces {
		return true, either.Name
	}
	return true, either.Namespace
}

const namespaces = "namespaces"

// influencingKinds is the table of these kinds. The controller watches quotas separately
// (quotas.go), because it shares out the room in them.
func influencingKinds(host kubernetes.Interface) []influencingKind {
	return []influencingKind{
		{"validatingwebhookconfigurations", func() cache.SharedIndexInformer {
			return admissioninformers.NewValidatingWebhookConfigurationInformer(host, 0, cache.Indexers{})
		}, isRefusedByConfiguration, isOtherGeneration},
		{"mutatingwebhookconfigurations", func() cache.SharedIndexInformer {
			return admissioninformers.NewMutatingWebhookConfigurationInformer(host, 0, cache.Indexers{})
		}, isRefusedByConfiguration, isOtherGeneration},
		{"validatingadmissionpolicies", func() cache.SharedIndexInformer {
			return admissioninformers.NewValidatingAdmissionPolicyInformer(host, 0, cache.Indexers{})
		}, isRefusedByConfiguration, isOtherGeneration},
		{"validatingadmissionpolicybindings", func() cache.SharedIndexInformer {
			return admissioninformers.NewValidatingAdmissionPolicyBindingInformer(host, 0, cache.Indexers{})
		}, isRefusedByConfiguration, isOtherGeneration},
		{namespaces, func() cache.SharedIndexInformer {
			return coreinformers.NewNamespaceInformer(host, 0, cache.Indexers{})
		}, isRefusedByConfiguration, hasOtherLabels},
		{"limitranges", func() cache.SharedIndexInformer {
			return coreinformers.NewLimitRangeInformer(host, metav1.NamespaceAll, 0, cache.Indexers{})
		}, isRefusedByConfiguration, isOtherVersion},
		{"serviceaccounts", func() cache.SharedIndexInformer {
			return coreinformers.NewServiceAccountInformer(host, metav1.NamespaceAll, 0, cache.Indexers{})
		}, mentions("serviceaccount"), isNew},
		{"priorityclasses", func() cache.SharedIndexInformer {
			return schedulinginformers.NewPriorityClassInformer(host, 0, cache.Indexers{})
		}, mentions("PriorityClass"), isOtherVersion},
		{"runtimeclasses", func() cache.SharedIndexInformer {
			return nodeinformers.NewRuntimeClassInformer(host, 0, cache.Indexers{})
		}, mentions("RuntimeClass"), isOtherVersion},
		{"storageclasses", func() cache.SharedIndexInformer {
			return storageinformers.NewStorageClassInformer(host, 0, cache.Indexers{})
		}, mentions("storageclass"), isOtherVersion},
		{"poddisruptionbudgets", func() cache.SharedIndexInformer {
			return policyinformers.NewPodDisruptionBudgetInformer(host, metav1.NamespaceAll, 0, cache.Indexers{})
		}, plan.IsNotAllowed, allowsMore},
	}
}

// mentions is for answers that name a kind of object, in upper or lower case.
func mentions(word string) func(answer error) bool {
	return func(answer error) bool {
		return plan.IsRefusal(answer) && strings.Contains(strings.ToLower(answer.Error()), strings.ToLower(word))
	}
}

func isNew(before, _ *influencingObject) bool { return before == nil }

func isOtherVersion(before, after *influencingObject) bool {
	return before == nil || after == nil || before.ResourceVersion != after.ResourceVersion
}

// isOtherGeneration is for kinds whose generation counts the changes of their spec.
func isOtherGeneration(before, after *influencingObject) bool {
	return before == nil || after == nil || before.Generation != after.Generation || before.UID != after.UID
}

// hasOtherLabels is for namespaces, because policies select them by their labels.
func hasOtherLabels(before, after *influencingObject) bool {
	return before == nil || after == nil || !maps.Equal(before.Labels, after.Labels)
}

// allowsMore is for disruption budgets. After a budget is deleted, an eviction succeeds as a
// deletion would.
func allowsMore(before, after *influencingObject) bool {
	return before != nil && (after == nil || after.allowed > before.allowed || after.Generation != before.Generation)
}
