// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"

	"statefulset.dev/store/dependents"
)

// leftovers are the remains of a set in the host cluster.
type leftovers struct {
	namespace, name string
	uid             types.UID
	pods            []*corev1.Pod
	revisions       []*appsv1.ControllerRevision // the latest last
	// claims are all claims of the namespace, by name: most claims do not name their owner.
	claims map[string]*corev1.PersistentVolumeClaim
	// ownedClaims are the claims that name the set as their owner.
	ownedClaims []*corev1.PersistentVolumeClaim
}

// findLeftovers collects the remains of all sets, ordered by namespace and name.
func findLeftovers(ctx context.Context, host kubernetes.Interface) ([]leftovers, error) {
	found := map[dependents.SetID]*leftovers{}
	byNamespace := map[string]map[string]*corev1.PersistentVolumeClaim{}
	err := eachPage(ctx, dependents.Pods, func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return host.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
	}, func(object runtime.Object) {
		if pod, ok := object.(*corev1.Pod); ok {
			addLeftovers(found, pod, func(r *leftovers) { r.pods = append(r.pods, pod) })
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachPage(ctx, dependents.Revisions, func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return host.AppsV1().ControllerRevisions(metav1.NamespaceAll).List(ctx, options)
	}, func(object runtime.Object) {
		// A revision that a set owns but does not control has no template.
		if revision, ok := object.(*appsv1.ControllerRevision); ok && metav1.GetControllerOfNoCopy(revision) != nil {
			addLeftovers(found, revision, func(r *leftovers) { r.revisions = append(r.revisions, revision) })
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachPage(ctx, dependents.Claims, func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return host.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, options)
	}, func(object runtime.Object) {
		claim, ok := object.(*corev1.PersistentVolumeClaim)
		if !ok {
			return
		}
		if byNamespace[claim.Namespace] == nil {
			byNamespace[claim.Namespace] = map[string]*corev1.PersistentVolumeClaim{}
		}
		byNamespace[claim.Namespace][claim.Name] = claim
		addLeftovers(found, claim, func(r *leftovers) { r.ownedClaims = append(r.ownedClaims, claim) })
	})
	if err != nil {
		return nil, err
	}
	return sorted(found, byNamespace), nil
}

func eachPage(ctx context.Context, what string, list pager.ListPageFunc, each func(runtime.Object)) error {
	err := pager.New(list).EachListItem(ctx, metav1.ListOptions{Limit: dependents.PageSize}, func(object runtime.Object) error {
		each(object)
		return nil
	})
	if err != nil {
		return fmt.Errorf("finding %s of sets in the host cluster: %w", what, err)
	}
	return nil
}

// addLeftovers adds an object to the remains of each set that it names as owner.
func addLeftovers(found map[dependents.SetID]*leftovers, object metav1.Object, add func(*leftovers)) {
	for ref := range dependents.SetsOwning(object) {
		at := dependents.SetID{Namespace: object.GetNamespace(), UID: ref.UID}
		r, ok := found[at]
		if !ok {
			r = &leftovers{namespace: object.GetNamespace(), name: ref.Name, uid: ref.UID}
			found[at] = r
		}
		add(r)
	}
}

func sorted(found map[dependents.SetID]*leftovers, claims map[string]map[string]*corev1.PersistentVolumeClaim) []leftovers {
	var all []leftovers
	for _, r := range found {
		r.claims = claims[r.namespace]
		slices.SortFunc(r.revisions, func(a, b *appsv1.ControllerRevision) int {
			return cmp.Or(cmp.Compare(a.Revision, b.Revision), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b leftovers) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
	})
	return all
}
