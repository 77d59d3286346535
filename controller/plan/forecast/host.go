// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// host is a cluster in memory. Objects in it are replaced, never changed, because
// they may be those of a real one's cache.
type host struct {
	set       *v1.StatefulSet
	rivals    map[string]string
	now       time.Time
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
	// records are what the last plan has read.
	records plan.Records
	made    int
	// found is the size of the world.
	found int
	// broken are the pods that do not start.
	broken map[types.UID]bool
}

func newHost(world plan.World) *host {
	h := &host{set: world.Set.DeepCopy(), rivals: world.Rivals, now: world.Now, broken: map[types.UID]bool{},
		pods: byName(world.Pods), claims: byName(world.Claims), revisions: byName(world.Revisions)}
	for _, pod := range world.Pods {
		h.broken[pod.UID] = plan.CannotStart(pod)
	}
	h.found = h.size()
	return h
}

// size is how many objects there are, with their volumes and labels.
func (h *host) size() int {
	size := len(h.pods) + len(h.claims)
	for _, pod := range h.pods {
		size += len(pod.Spec.Volumes) + len(pod.Labels)
	}
	for _, claim := range h.claims {
		size += len(claim.Labels)
	}
	return size
}

// full reports whether so much has been made that no more is played.
func (h *host) full() bool { return h.size() > h.found+mostMade }

func byName[T metav1.Object](objects []T) map[string]T {
	all := make(map[string]T, len(objects))
	for _, object := range objects {
		all[object.GetName()] = object
	}
	return all
}

func (h *host) world() plan.World {
	return plan.World{Set: h.set, Rivals: h.rivals, Now: h.now, Pods: values(h.pods), Claims: values(h.claims), Revisions: values(h.revisions), Records: h.records}
}

// values are in the order of names, so that the same world always gives the same plan.
func values[T any](objects map[string]T) []T {
	all := make([]T, 0, len(objects))
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		all = append(all, objects[name])
	}
	return all
}

// carryOut does what a plan says.
func (h *host) carryOut(p plan.Plan) {
	for _, action := range p.All() {
		h.do(action)
	}
	h.set.Status, h.records = p.Status, p.Records
}

func (h *host) do(action plan.Action) {
	owner := []metav1.OwnerReference{identity.Owner(h.set)}
	switch a := action.(type) {
	case plan.CreateMember:
		h.create(a.Claims)
		add(h, h.pods, pending(a.Pod))
	case plan.CreateClaims:
		h.create(a.Claims)
	case plan.SetClaimOwners:
		change(h.claims, a.Claim.Name, func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = a.Owners })
	case plan.RepairPod:
		change(h.pods, a.Pod.Name, func(pod *corev1.Pod) {
			pod.Labels = maps.Clone(pod.Labels)
			maps.Copy(pod.Labels, a.Labels)
		})
	case plan.DeletePod:
		change(h.pods, a.Pod.Name, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: h.now} })
	case plan.AdoptPod:
		change(h.pods, a.Pod.Name, func(pod *corev1.Pod) {
			pod.OwnerReferences = slices.Concat(pod.OwnerReferences, owner)
		})
	case plan.ReleasePod:
		change(h.pods, a.Pod.Name, func(pod *corev1.Pod) {
			pod.OwnerReferences = slices.DeleteFunc(slices.Clone(pod.OwnerReferences), func(ref metav1.OwnerReference) bool { return ref.UID == h.set.UID })
		})
	case plan.CreateRevision:
		add(h, h.revisions, a.Revision.DeepCopy())
	case plan.RaiseRevision:
		change(h.revisions, a.Revision.Name, func(r *appsv1.ControllerRevision) { r.Revision = a.To })
	case plan.AdoptRevision:
		change(h.revisions, a.Revision.Name, func(r *appsv1.ControllerRevision) {
			r.OwnerReferences = slices.Concat(r.OwnerReferences, owner)
		})
	case plan.DeleteRevision:
		delete(h.revisions, a.Revision.Name)
	}
}

func (h *host) create(claims []*corev1.PersistentVolumeClaim) {
	for _, claim := range claims {
		made := *claim
		add(h, h.claims, &made)
	}
}

func add[T metav1.Object](h *host, objects map[string]T, object T) {
	h.made++
	object.SetUID(types.UID(fmt.Sprintf("made-%d", h.made)))
	object.SetCreationTimestamp(metav1.Time{Time: h.now})
	objects[object.GetName()] = object
}

// change puts a changed copy in the place of an object. The copy shares with the object
// what do does not replace.
func change[T any](objects map[string]*T, name string, do func(*T)) {
	object, ok := objects[name]
	if !ok {
		return
	}
	changed := *object
	do(&changed)
	objects[name] = &changed
}

// pending is a pod that was just created, with what a planner reads of it. What all
// members have in common is left out, and need not be copied.
func pending(pod *corev1.Pod) *corev1.Pod {
	made := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			made.Spec.Volumes = append(made.Spec.Volumes, volume)
		}
	}
	return made
}

// react does what a willing host does by itself, and tells of it. Time passes when
// nothing else happens and pods have yet to be ready for long enough.
func (h *host) react(p plan.Plan) []string {
	var happened []string
	for _, name := range slices.Sorted(maps.Keys(h.pods)) {
		switch pod := h.pods[name]; {
		case pod.DeletionTimestamp != nil:
			delete(h.pods, name)
			happened = append(happened, "pod "+name+" is gone")
		case h.startable(pod):
			h.start(name)
			happened = append(happened, "pod "+name+" becomes ready")
		}
	}
	happened = append(happened, h.collect()...)
	if len(p.All())+len(happened) == 0 && p.Status.AvailableReplicas < p.Status.ReadyReplicas && p.RequeueAfter > 0 {
		h.now = h.now.Add(p.RequeueAfter)
		happened = append(happened, p.RequeueAfter.String()+" pass")
	}
	return happened
}

// startable reports whether a pod is not ready and can become so.
func (h *host) startable(pod *corev1.Pod) bool {
	if h.broken[pod.UID] || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || plan.IsReady(pod) {
		return false
	}
	return pod.Status.Phase == corev1.PodRunning || !slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.PersistentVolumeClaim != nil && !h.usable(volume.PersistentVolumeClaim.ClaimName)
	})
}

// usable reports whether a pod could mount a claim. Claims that are no member's are
// not in the world, and are taken to exist.
func (h *host) usable(claim string) bool {
	if found, ok := h.claims[claim]; ok {
		return found.DeletionTimestamp == nil
	}
	base, _, _ := identity.ParsePodName(claim)
	return !slices.ContainsFunc(h.set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool {
		return base == template.Name+"-"+h.set.Name
	})
}

func (h *host) start(name string) {
	change(h.pods, name, func(pod *corev1.Pod) {
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: h.now}}}}
	})
}

// collect removes the claims whose owner is a pod that is gone, and those that are
// terminating and that no pod mounts.
func (h *host) collect() []string {
	alive := map[types.UID]bool{}
	mounted := map[string]bool{}
	for _, pod := range h.pods {
		alive[pod.UID] = true
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim != nil {
				mounted[volume.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	var happened []string
	for _, name := range slices.Sorted(maps.Keys(h.claims)) {
		claim := h.claims[name]
		orphaned := slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.Kind == "Pod" && !alive[ref.UID] })
		if !mounted[name] && (orphaned || claim.DeletionTimestamp != nil) {
			delete(h.claims, name)
			happened = append(happened, "claim "+name+" is deleted")
		}
	}
	return happened
}
