// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// evidence is a world as the invariants see it.
type evidence struct {
	World
	// ordinals are the wanted ones, in ascending order.
	ordinals  []int
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
}

func gather(world World) evidence {
	f := evidence{World: world, ordinals: walked(world.Set), pods: map[string]*corev1.Pod{},
		claims: map[string]*corev1.PersistentVolumeClaim{}, revisions: map[string]*appsv1.ControllerRevision{}}
	for _, pod := range world.Pods {
		f.pods[pod.Name] = pod
	}
	for _, claim := range world.Claims {
		f.claims[claim.Name] = claim
	}
	for _, revision := range world.Revisions {
		f.revisions[revision.Name] = revision
	}
	return f
}

func (f evidence) podName(ordinal int) string { return fmt.Sprintf("%s-%d", f.Set.Name, ordinal) }

func (f evidence) claimName(template string, ordinal int) string {
	return fmt.Sprintf("%s-%s-%d", template, f.Set.Name, ordinal)
}

// ordinalOf is the ordinal in a pod's name, -1 if it has none.
func (f evidence) ordinalOf(pod string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(pod, f.Set.Name+"-"))
	if err != nil {
		return -1
	}
	return n
}

func (f evidence) wanted(ordinal int) bool { return slices.Contains(f.ordinals, ordinal) }

// walked are the wanted ordinals, found by walking from the first one on.
func walked(set *v1.StatefulSet) (wanted []int) {
	var spec v1.StatefulSetOrdinals
	if set.Spec.Ordinals != nil {
		spec = *set.Spec.Ordinals
	}
	for ordinal := int(spec.Start); len(wanted) < int(*set.Spec.Replicas); ordinal++ {
		if !isReserved(spec.Reserved, ordinal) {
			wanted = append(wanted, ordinal)
		}
	}
	return wanted
}

func isReserved(reserved []v1.OrdinalRange, ordinal int) bool {
	for _, r := range reserved {
		if r.Last == nil && ordinal == int(r.First) || r.Last != nil && ordinal >= int(r.First) && ordinal <= int(*r.Last) {
			return true
		}
	}
	return false
}

// mine reports whether a pod is a member: the set controls it or may adopt it, and
// its labels match.
func (f evidence) mine(pod *corev1.Pod) bool {
	if pod.Labels["app"] != f.Set.Spec.Selector.MatchLabels["app"] {
		return false
	}
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return pod.DeletionTimestamp == nil && f.Set.DeletionTimestamp == nil
	}
	return controller.UID == f.Set.UID
}

// member is the pod of a member, nil if it has none.
func (f evidence) member(ordinal int) *corev1.Pod {
	if pod := f.pods[f.podName(ordinal)]; pod != nil && f.mine(pod) {
		return pod
	}
	return nil
}

// ready is since when a pod is ready, and whether it is.
func ready(pod *corev1.Pod) (since time.Time, ok bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Time, pod.Status.Phase == corev1.PodRunning
		}
	}
	return time.Time{}, false
}

func (f evidence) readyLongEnough(pod *corev1.Pod) bool {
	since, ok := ready(pod)
	if _, restarts := noted(pod); restarts {
		return false
	}
	least := time.Duration(f.Set.Spec.MinReadySeconds) * time.Second
	return ok && (least == 0 || f.Now.Sub(since) >= least)
}

// serves reports whether the member of an ordinal serves somebody and is to stay.
func (f evidence) serves(ordinal int) bool {
	pod := f.member(ordinal)
	return pod != nil && pod.DeletionTimestamp == nil && f.readyLongEnough(pod)
}

// surplus are the ordinals of the members that are not wanted, the highest first.
func (f evidence) surplus() (ordinals []int) {
	for _, pod := range f.Pods {
		if ordinal := f.ordinalOf(pod.Name); f.mine(pod) && !f.wanted(ordinal) {
			ordinals = append(ordinals, ordinal)
		}
	}
	slices.Sort(ordinals)
	slices.Reverse(ordinals)
	return ordinals
}

func (f evidence) ordered() bool {
	return f.Set.Spec.PodManagementPolicy == v1.OrderedReadyPodManagement
}

func (f evidence) strategy() v1.StatefulSetUpdateStrategyType { return f.Set.Spec.UpdateStrategy.Type }

// isAbovePartition reports whether an update may change a wanted member: there are as many
// ordinals before its own as the partition says, or more, reserved ones included.
func (f evidence) isAbovePartition(ordinal int) bool {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	return rolling == nil || rolling.Partition == nil || f.place(ordinal) >= int(*rolling.Partition)
}

// maxUnavailable is how many wanted members may be unavailable by our hand: a
// percentage is rounded down, and less than one counts as one.
func (f evidence) maxUnavailable() int {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable == nil {
		return 1
	}
	n := rolling.MaxUnavailable.IntValue()
	if percent, isPercent := strings.CutSuffix(rolling.MaxUnavailable.StrVal, "%"); isPercent {
		share, err := strconv.Atoi(percent)
		if err != nil {
			return 1
		}
		n = len(f.ordinals) * share / 100
	}
	return max(n, 1)
}

// currentRevision is the revision of the members that an update has not reached;
// updated is that of the present template.
func (f evidence) currentRevision(updated string) string {
	name := f.Set.Status.CurrentRevision
	if revision := f.revisions[name]; revision != nil {
		if controller := metav1.GetControllerOfNoCopy(revision); controller == nil || controller.UID == f.Set.UID {
			return name
		}
	}
	return updated
}

// liveRevisions are the revisions that somebody may still need.
func (f evidence) liveRevisions() map[string]bool {
	live := map[string]bool{f.Set.Status.CurrentRevision: true, f.Set.Status.UpdateRevision: true}
	for _, pod := range f.Pods {
		live[pod.Labels["controller-revision-hash"]] = true
	}
	return live
}

// notDesired says which members are not as the user wants them.
func (f evidence) notDesired() (lacks []string) {
	for _, ordinal := range f.ordinals {
		pod := f.member(ordinal)
		switch {
		case !f.serves(ordinal):
			lacks = append(lacks, fmt.Sprintf("member %d is not available", ordinal))
		case f.strategy() != v1.OnDeleteStatefulSetStrategyType && f.isAbovePartition(ordinal) &&
			podText(pod) != templateText(&f.Set.Spec.Template):
			lacks = append(lacks, fmt.Sprintf("member %d runs %s", ordinal, podText(pod)))
		case f.lacksParameters(pod, ordinal):
			lacks = append(lacks, fmt.Sprintf("member %d has the parameters %s", ordinal, identityText(pod)))
		}
	}
	for _, pod := range f.Pods {
		if _, restarts := noted(pod); restarts && f.mine(pod) {
			lacks = append(lacks, fmt.Sprintf("the containers of pod %s are said to be restarted", pod.Name))
		}
	}
	for _, ordinal := range f.surplus() {
		lacks = append(lacks, fmt.Sprintf("member %d is not wanted", ordinal))
	}
	lacks = append(lacks, f.exposedClaims()...)
	lacks = append(lacks, f.lacksObjects()...)
	lacks = append(lacks, f.unknownObjects()...)
	for _, ordinal := range f.ordinals {
		if pod := f.member(ordinal); f.isMisshapen(ordinal) && pod.DeletionTimestamp == nil {
			lacks = append(lacks, fmt.Sprintf("member %d mounts %v and is as %s", ordinal, mounts(pod), shapeOf(pod)))
		}
	}
	for _, ordinal := range f.ordinals {
		if pod := f.member(ordinal); pod != nil && f.asked(pod) {
			lacks = append(lacks, fmt.Sprintf("member %d is to be replaced", ordinal))
		}
	}
	if f.growsInPlace() {
		f.eachClaim(func(_ int, template, claim *corev1.PersistentVolumeClaim) {
			want, has := template.Spec.Resources.Requests.Storage(), claim.Status.Capacity.Storage()
			if untold, under := lag(template, claim); f.free(claim) && (len(untold) > 0 || under || !has.IsZero() && has.Cmp(*want) < 0) {
				lacks = append(lacks, fmt.Sprintf("claim %s is not as its template", claim.Name))
			}
		})
	}
	return lacks
}

// owner is what matters of an owner reference.
type owner struct {
	uid        types.UID
	controller bool
}

func ownersOf(f evidence, claim *corev1.PersistentVolumeClaim) (ours []owner) {
	for _, ref := range claim.OwnerReferences {
		if f.ours(ref) {
			ours = append(ours, owner{ref.UID, ref.Controller != nil && *ref.Controller})
		}
	}
	return ours
}

// ours reports whether a reference is to the set or one of its pods, or was to
// earlier ones.
func (f evidence) ours(ref metav1.OwnerReference) bool {
	return ref.UID != stranger().UID
}
