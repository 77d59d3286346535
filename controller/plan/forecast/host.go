// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// host is a cluster in memory that does by itself what an optimistic cluster does.
type host struct {
	*plan.Simulated

	rivals map[string]string
	// claimsWithSecrets are claims of other claim templates that record generated Secrets.
	claimsWithSecrets []*corev1.PersistentVolumeClaim
	// resizes is true if the host cluster can change the resources of pods.
	resizes bool
	// setsConditions is true if the controller may set conditions of pods.
	setsConditions bool
	// kinds says for which kinds the objects of the host cluster are completely known.
	kinds map[schema.GroupKind]plan.Kind
	// cache is that of the last plan.
	cache  plan.Cache
	writes int
	// found is the size of the initial world.
	found int
	// broken are the pods that do not start, and stuck the claims that cannot get the size or the
	// attributes that they request.
	broken map[types.UID]bool
	stuck  map[string]bool
}

func newHost(world plan.World) *host {
	h := &host{rivals: world.Rivals, claimsWithSecrets: world.ClaimsWithSecrets, kinds: world.Kinds,
		resizes: world.Resizes, setsConditions: world.SetsConditions,
		broken: map[types.UID]bool{}, stuck: map[string]bool{}}
	h.Simulated = &plan.Simulated{Set: world.Set.DeepCopy(), Now: world.Now, Write: h.write, Trim: pending,
		Pods: byName(world.Pods), Claims: byName(world.Claims), Revisions: byName(world.Revisions), Objects: maps.Clone(world.Objects)}
	if h.Objects == nil {
		h.Objects = map[identity.ObjectKey]*plan.Object{}
	}
	for _, pod := range world.Pods {
		h.broken[pod.UID] = plan.CannotStart(pod)
	}
	for _, claim := range world.Claims {
		h.stuck[claim.Name] = cannotGrow(claim)
	}
	h.found = h.size()
	h.writes = max(newest(world.Pods), newest(world.Claims), newest(world.Revisions))
	return h
}

// newest is the highest resource version among objects, from which the cluster in memory continues.
func newest[T metav1.Object](objects []T) (version int) {
	for _, object := range objects {
		if n, err := strconv.Atoi(object.GetResourceVersion()); err == nil {
			version = max(version, n)
		}
	}
	return version
}

func (h *host) write() (int, error) {
	h.writes++
	return h.writes, nil
}

// size is the number of objects, with their volumes and labels.
func (h *host) size() int {
	size := len(h.Pods) + len(h.Claims) + len(h.Objects)
	for _, pod := range h.Pods {
		size += len(pod.Spec.Volumes) + len(pod.Labels)
	}
	for _, claim := range h.Claims {
		size += len(claim.Labels)
	}
	return size
}

// full reports whether so many objects were created that the forecast ends.
func (h *host) full() bool { return h.size() > h.found+mostMade }

func byName[T metav1.Object](objects []T) map[string]T {
	all := make(map[string]T, len(objects))
	for _, object := range objects {
		all[object.GetName()] = object
	}
	return all
}

func (h *host) world() plan.World {
	return plan.World{Set: h.Set, Rivals: h.rivals, ClaimsWithSecrets: h.claimsWithSecrets,
		Resizes: h.resizes, SetsConditions: h.setsConditions, Now: h.Now,
		Pods: values(h.Pods), Claims: values(h.Claims), Revisions: values(h.Revisions), Objects: h.Objects, Kinds: h.kinds, Cache: h.cache}
}

// values are sorted by name, so that the same world always gives the same plan.
func values[T any](objects map[string]T) []T {
	all := make([]T, 0, len(objects))
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		all = append(all, objects[name])
	}
	return all
}

// carryOut carries out a plan. It fails if the plan does not fit this cluster.
func (h *host) carryOut(p plan.Plan) error {
	for _, act := range p.All() {
		if create, ok := act.(action.CreateRevision); ok {
			// The forecast assumes that the owner of a revision with this name and data deletes it.
			delete(h.Revisions, create.Revision.Name)
		}
		if err := h.Do(act); err != nil {
			return fmt.Errorf("carrying out the plan in memory: %s: %w", act, err)
		}
		if update, ok := act.(action.UpdateInPlace); ok {
			// With another image it may start, as a new pod might.
			delete(h.broken, update.Pod.UID)
		}
	}
	h.Set.Status, h.cache = p.Status, p.Cache
	return nil
}

// change replaces an object with a changed copy. The copy shares with the object what do does not
// replace.
func change[T any](objects map[string]*T, name string, do func(*T)) {
	object, ok := objects[name]
	if !ok {
		return
	}
	changed := *object
	do(&changed)
	objects[name] = &changed
}

// pending is a pod that was just created, reduced to what a planner reads of it. It leaves out what
// all members have in common, which then needs no copy.
func pending(pod *corev1.Pod) *corev1.Pod {
	made := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: corev1.PodSpec{
		Subdomain: pod.Spec.Subdomain, ReadinessGates: pod.Spec.ReadinessGates}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			made.Spec.Volumes = append(made.Spec.Volumes, volume)
		}
	}
	return made
}

// react does what an optimistic cluster does by itself, and returns what happened. Time passes when
// nothing else happens, and an action was put off, or pods have yet to be ready, or available, for
// long enough.
func (h *host) react(p plan.Plan) []string {
	var happened []string
	for _, name := range slices.Sorted(maps.Keys(h.Pods)) {
		switch pod := h.Pods[name]; {
		case pod.DeletionTimestamp != nil:
			delete(h.Pods, name)
			happened = append(happened, "pod "+name+" is gone")
		case h.Resize(name):
			happened = append(happened, "containers of pod "+name+" are resized")
		case h.Restart(name):
			happened = append(happened, "containers of pod "+name+" are restarted")
		case h.takenOut(pod):
			h.leave(name)
			happened = append(happened, "pod "+name+" is out of service")
		case h.startable(pod):
			h.start(name)
			happened = append(happened, "pod "+name+" becomes ready")
		}
	}
	happened = append(happened, h.collect()...)
	happened = append(happened, h.grow()...)
	happened = append(happened, h.answer()...)
	happened = append(happened, h.decide(p)...)
	baking := p.Status.Condition(v1.StatefulSetReady).Reason == v1.ReasonBaking
	if len(p.All())+len(happened) == 0 && (p.PutOff || baking || p.Status.AvailableReplicas < p.Status.ReadyReplicas) && p.RequeueAfter > 0 {
		h.Now = h.Now.Add(p.RequeueAfter)
		// People read this, and a fraction of a second only shows when they requested the plan.
		happened = append(happened, (p.RequeueAfter+time.Second-1).Truncate(time.Second).String()+" pass")
	}
	return happened
}

// startable reports whether a pod is not ready and can become ready.
func (h *host) startable(pod *corev1.Pod) bool {
	if h.broken[pod.UID] || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || plan.IsPodReady(pod) ||
		h.closed(pod) {
		return false
	}
	return pod.Status.Phase == corev1.PodRunning || !slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.PersistentVolumeClaim != nil && !h.usable(volume.PersistentVolumeClaim.ClaimName)
	})
}

// usable reports whether a pod can mount a claim. Claims that belong to no member are not in the
// world, and are assumed to exist.
func (h *host) usable(claim string) bool {
	if found, ok := h.Claims[claim]; ok {
		return found.DeletionTimestamp == nil
	}
	_, _, ofMember := identity.ParseClaimName(claim, h.Set.Name, h.Set.Spec.VolumeClaimTemplates)
	return !ofMember
}

func (h *host) start(name string) {
	change(h.Pods, name, func(pod *corev1.Pod) {
		conditions := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: h.Now}}}
		for _, condition := range pod.Status.Conditions {
			if h.isKept(condition.Type) {
				conditions = append(conditions, condition)
			}
		}
		statuses := slices.Clone(pod.Status.ContainerStatuses)
		for i := range statuses {
			statuses[i].State = corev1.ContainerState{}
		}
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: conditions, ContainerStatuses: statuses,
			InitContainerStatuses: pod.Status.InitContainerStatuses, ObservedGeneration: pod.Status.ObservedGeneration}
	})
}

// collect deletes the claims whose owner is a pod that no longer exists, and terminating claims
// that no pod mounts.
func (h *host) collect() []string {
	alive := map[types.UID]bool{}
	mounted := map[string]bool{}
	for _, pod := range h.Pods {
		alive[pod.UID] = true
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim != nil {
				mounted[volume.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	var happened []string
	for _, name := range slices.Sorted(maps.Keys(h.Claims)) {
		claim := h.Claims[name]
		orphaned := slices.ContainsFunc(claim.OwnerReferences,
			func(ref metav1.OwnerReference) bool { return ref.Kind == "Pod" && !alive[ref.UID] })
		if !mounted[name] && (orphaned || claim.DeletionTimestamp != nil) {
			delete(h.Claims, name)
			happened = append(happened, "claim "+name+" is deleted")
		}
	}
	return happened
}
