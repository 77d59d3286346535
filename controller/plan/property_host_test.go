// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// errCrash is what a write returns that the controller did not live to see.
var errCrash = errors.New("the controller has crashed")

// object is what the host stores. A stored object is never changed, only replaced,
// so that states of the past stay what they were.
type object interface {
	metav1.Object
	runtime.Object
}

// state is what there was at one time.
type state struct {
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
}

// mostPast is how many states are remembered.
const mostPast = 4

// remember keeps the present state for views of the past.
func (h *host) remember() {
	h.past = append(h.past, state{maps.Clone(h.pods), maps.Clone(h.claims), maps.Clone(h.revisions)})
	if len(h.past) > mostPast {
		h.past = h.past[1:]
	}
}

// staleWorld is the world with the objects of some kind, or all of them, as they
// were some commands ago.
func (h *host) staleWorld(kind string, ago int) World {
	world := h.world()
	if len(h.past) == 0 {
		return world
	}
	then := h.past[max(len(h.past)-1-ago, 0)]
	if kind == "pods" || kind == "all" {
		world.Pods = slices.Collect(maps.Values(then.pods))
	}
	if kind == "claims" || kind == "all" {
		world.Claims = slices.Collect(maps.Values(then.claims))
	}
	if kind == "revisions" || kind == "all" {
		world.Revisions = slices.Collect(maps.Values(then.revisions))
	}
	return world
}

// write counts a write of the controller.
func (h *host) write() (int, error) {
	if h.writesLeft == 0 {
		return 0, errCrash
	}
	h.writesLeft--
	h.writes++
	return h.writes, nil
}

func isStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

// replace puts a changed copy in the place of an object. What do itself removes
// stays removed.
func replace[T object](h *host, store map[string]T, old T, do func(T)) {
	h.writes++
	next := old.DeepCopyObject().(T)
	next.SetResourceVersion(strconv.Itoa(h.writes))
	do(next)
	if _, kept := store[old.GetName()]; kept {
		store[old.GetName()] = next
	}
}

// changePod does to a pod what somebody else than the controller does.
func (h *host) changePod(name string, do func(*corev1.Pod)) {
	h.t.Helper()
	pod, exists := h.pods[name]
	if !exists {
		h.t.Fatalf("there is no pod %s", name)
	}
	replace(h, h.pods, pod, do)
}

func (h *host) changeClaim(name string, do func(*corev1.PersistentVolumeClaim)) {
	h.t.Helper()
	claim, exists := h.claims[name]
	if !exists {
		h.t.Fatalf("there is no claim %s", name)
	}
	replace(h, h.claims, claim, do)
}

func (h *host) gone(name string) { h.changePod(name, func(*corev1.Pod) { delete(h.pods, name) }) }

func (h *host) killClaim(name string) {
	h.changeClaim(name, func(claim *corev1.PersistentVolumeClaim) { claim.DeletionTimestamp = &metav1.Time{Time: h.now} })
}

// stranger is a controller that is not the set.
func stranger() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "other", UID: "other", Controller: new(true)}
}

// replaceSet puts a new set of the same name in the place of one that is gone.
func (h *host) replaceSet() {
	h.writes++
	set := h.set.DeepCopy()
	set.UID, set.DeletionTimestamp, set.Generation = types.UID(fmt.Sprintf("set-uid-%d", h.writes)), nil, 1
	set.Status.Reset()
	h.set = set
}

// collect plays the garbage collector and the protection of claims in use: what
// is owned by nothing that exists goes, a claim only when no pod mounts it.
func (h *host) collect() (acted []string) {
	alive := map[types.UID]bool{h.set.UID: !h.outside.gone, stranger().UID: true}
	for _, pod := range h.pods {
		alive[pod.UID] = true
	}
	for _, name := range slices.Sorted(maps.Keys(h.pods)) {
		if pod := h.pods[name]; pod.DeletionTimestamp == nil && dangling(pod, alive) {
			h.changePod(name, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: h.now} })
			acted = append(acted, "pod "+name+" is collected")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.revisions)) {
		if dangling(h.revisions[name], alive) {
			delete(h.revisions, name)
			acted = append(acted, "revision "+name+" is collected")
		}
	}
	acted = append(acted, h.collectOwned()...)
	for _, name := range slices.Sorted(maps.Keys(h.claims)) {
		if claim := h.claims[name]; claim.DeletionTimestamp == nil && dangling(claim, alive) {
			h.killClaim(name)
			acted = append(acted, "claim "+name+" is collected")
		} else if left := living(claim, alive); len(left) < len(claim.OwnerReferences) && len(left) > 0 {
			h.changeClaim(name, func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = left })
			acted = append(acted, "claim "+name+" loses the owners that are gone")
		}
		if h.claims[name].DeletionTimestamp != nil && !h.mounted(name) {
			delete(h.claims, name)
			acted = append(acted, "claim "+name+" is gone")
		}
	}
	return acted
}

func dangling(object metav1.Object, alive map[types.UID]bool) bool {
	return len(object.GetOwnerReferences()) > 0 && len(living(object, alive)) == 0
}

// living are the owners of an object that exist.
func living(object metav1.Object, alive map[types.UID]bool) (owners []metav1.OwnerReference) {
	for _, owner := range object.GetOwnerReferences() {
		if alive[owner.UID] {
			owners = append(owners, owner)
		}
	}
	return owners
}

// mounted reports whether a pod mounts a claim. One that no node has got yet does not.
func (h *host) mounted(claim string) bool {
	for _, pod := range h.pods {
		if pod.Status.Phase != corev1.PodPending && slices.Contains(mounts(pod), claim) {
			return true
		}
	}
	return false
}

// canRun reports whether a pod has started, or has an image that starts, a node, and claims
// that are all there to stay.
func (h *host) canRun(pod *corev1.Pod) bool {
	if pod.Spec.Containers[0].Image == badImage || pod.Spec.NodeSelector["disk"] == nowhere {
		return false
	}
	return pod.Status.Phase != corev1.PodPending || !slices.ContainsFunc(mounts(pod), func(claim string) bool {
		return h.claims[claim] == nil || h.claims[claim].DeletionTimestamp != nil
	})
}

func mounts(pod *corev1.Pod) (claims []string) {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			claims = append(claims, volume.PersistentVolumeClaim.ClaimName)
		}
	}
	return claims
}
