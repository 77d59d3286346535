// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// A namespace is read in pages, of which only what concerns the set is kept. A revision
// holds a template, a pod what became of it.
const (
	podsInAPage      = 100
	revisionsInAPage = 20
	// mostKept is how many objects of a set are looked at. A set has at most some
	// thousand members.
	mostKept = 50_000
)

// retryAfter is how many seconds a client waits until it asks for a plan again.
const retryAfter = 5

// reader reads of a namespace of the host what concerns one set.
type reader struct {
	host kubernetes.Interface
	set  *v1.StatefulSet
	into caches
	kept int
}

// read lists with the selections that a controller watches with.
func (r *reader) read(ctx context.Context) error {
	core, apps := r.host.CoreV1(), r.host.AppsV1()
	members := metav1.ListOptions{LabelSelector: appsv1.StatefulSetPodNameLabel, Limit: podsInAPage}
	err := pages(ctx, members, core.Pods(r.set.Namespace).List, func(page *corev1.PodList) error {
		return keep(r, podsResource, page.Items, r.isMember, trimPod)
	})
	if err != nil {
		return unreadable(podsResource, err)
	}
	bases := claimBases(r.set)
	err = pages(ctx, metav1.ListOptions{Limit: podsInAPage}, core.PersistentVolumeClaims(r.set.Namespace).List, func(page *corev1.PersistentVolumeClaimList) error {
		return keep(r, claimsResource, page.Items, func(claim metav1.Object) bool { return isClaimOf(bases, claim) }, trimClaim)
	})
	if err != nil {
		return unreadable(claimsResource, err)
	}
	err = pages(ctx, metav1.ListOptions{Limit: revisionsInAPage}, apps.ControllerRevisions(r.set.Namespace).List, func(page *appsv1.ControllerRevisionList) error {
		return keep(r, revisionsResource, page.Items, r.isRevision, trimRevision)
	})
	if err != nil {
		return unreadable(revisionsResource, err)
	}
	return nil
}

// pages lists page by page, so that no more than one is in memory at a time.
func pages[L metav1.ListInterface](ctx context.Context, options metav1.ListOptions, list func(context.Context, metav1.ListOptions) (L, error), use func(L) error) error {
	for {
		page, err := list(ctx, options)
		if err != nil {
			return err
		}
		if err := use(page); err != nil {
			return err
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// keep puts what is wanted of a page into the cache of its kind.
func keep[T any, P interface {
	*T
	metav1.Object
}](r *reader, kind resource, page []T, wanted func(metav1.Object) bool, trim func(any) (any, error)) error {
	for i := range page {
		object := P(&page[i])
		if !wanted(object) {
			continue
		}
		if r.kept++; r.kept > mostKept {
			return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the plan of %s is not made: it has more than %d pods, claims and revisions, which is the limit", r.set.Name, mostKept))
		}
		object.SetOwnerReferences(r.unnamed(object.GetOwnerReferences()))
		short, err := trim(object)
		if err != nil {
			return err
		}
		if err := r.into.put(kind, short); err != nil {
			return err
		}
	}
	return nil
}

// isMember reports whether the set controls a pod, or the pod is a member by its name.
func (r *reader) isMember(pod metav1.Object) bool {
	set, _, named := identity.ParsePodName(pod.GetName())
	return named && set == r.set.Name || r.controls(pod)
}

// isRevision reports whether the set controls a revision, could adopt it, or could want
// its name.
func (r *reader) isRevision(revision metav1.Object) bool {
	base, _ := baseOfRevision(revision.GetName())
	return base == revisionBase(r.set.Name) || r.controls(revision) ||
		metav1.GetControllerOfNoCopy(revision) == nil && matches(r.set, revision.GetLabels())
}

func (r *reader) controls(object metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == r.set.UID
}

// claimBases are what the names of the set's claims begin with.
func claimBases(set *v1.StatefulSet) map[string]bool {
	bases := map[string]bool{}
	for i := range set.Spec.VolumeClaimTemplates {
		bases[set.Spec.VolumeClaimTemplates[i].Name+"-"+set.Name] = true
	}
	return bases
}

func isClaimOf(bases map[string]bool, claim metav1.Object) bool {
	base, _, named := identity.ParsePodName(claim.GetName())
	return named && bases[base]
}

// unnamed takes their names from owners that are not the set's business: who may ask for
// plans need not be one who may see them. Sets of the name, and pods of members, keep
// theirs, by which they are recognized.
func (r *reader) unnamed(owners []metav1.OwnerReference) []metav1.OwnerReference {
	var all []metav1.OwnerReference
	for _, owner := range owners {
		member, _, named := identity.ParsePodName(owner.Name)
		ours := owner.UID == r.set.UID || owner.Kind == v1.Kind && owner.Name == r.set.Name || owner.Kind == "Pod" && named && member == r.set.Name
		if !ours {
			owner.APIVersion, owner.Kind, owner.Name = "an", "unnamed", "object"
		}
		all = append(all, owner)
	}
	return all
}

// unreadable tells the client that the host does not answer, and when to ask again.
func unreadable(kind resource, err error) error {
	if apierrors.IsRequestEntityTooLargeError(err) {
		return err
	}
	answer := apierrors.NewServiceUnavailable(fmt.Sprintf("the plan cannot be made, because the host cluster does not list %s: %v", kind, err))
	answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfter}
	return answer
}

// put adds an object to a cache that does not run.
func (c caches) put(kind resource, object any) error {
	if err := c[kind].GetIndexer().Add(object); err != nil {
		return fmt.Errorf("indexing %s: %w", kind, err)
	}
	return nil
}
