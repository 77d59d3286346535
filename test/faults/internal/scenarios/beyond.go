// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Unlucky is an image with which no pod becomes ready.
const Unlucky = "example.com/web:0"

// Beyond returns the scenarios with fields that apps/v1 does not have, or does not let
// change, always in the same order.
func Beyond() []Scenario {
	return []Scenario{
		{"an update that cannot start is corrected", ordered(3), steps(
			Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"replaceUnreadyAfterSeconds":0}}}}`), image(0),
			Wait{"a member does not become ready", notBroken}, image(2), Settled)},
		{"a member is removed in the middle and brought back", ordered(3), steps(reserve, Settled, free, Settled)},
		{"a member is removed in the middle of an update and brought back", ordered(3), steps(image(2), reserve, Settled, free, Settled)},
		{"the policy and the service change in the middle of updates", ordered(3), steps(
			image(2), updated(1), Patch(`{"spec":{"podManagementPolicy":"Parallel","serviceName":"other","replicas":5}}`), Settled,
			image(3), updated(1), Patch(`{"spec":{"podManagementPolicy":"OrderedReady","serviceName":"web"}}`), Settled)},
		{"an update is paused, members of both revisions are lost, and it continues", ordered(3), steps(
			image(2), updated(1), pause(true), Wait{"the update is paused", notPaused}, EndPod{Ordinal: 0}, EndPod{Ordinal: 2},
			Wait{"the update is paused", notPaused}, pause(false), Settled)},
		{"an update by steps fails and is rolled back, and a corrected one completes", ordered(3), steps(
			Patch(`{"spec":{"progressDeadlineSeconds":1,"updateStrategy":{"rollingUpdate":{"failurePolicy":"Rollback","steps":[{"updated":1,"bakeSeconds":1},{"updated":"100%"}]}}}}`),
			image(0), Wait{"the update is rolled back", notRolledBack}, Patch(`{"spec":{"progressDeadlineSeconds":600}}`), image(2), Settled)},
		{"members are updated in place, with an image that is corrected, and back", ordered(3), steps(
			Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"IfPossible"}}}}}`), image(2), updated(1),
			image(0), Wait{"a member does not become ready", notBroken}, image(2), Settled, image(1), updated(1), image(2), Settled)},
		{"a member hangs in place, and the next update leaves it alone", ordered(3), steps(
			Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"replaceUnreadyAfterSeconds":0,"inPlace":{"policy":"IfPossible"}}}}}`), image(0),
			Wait{"a member does not become ready", notBroken},
			with(image(2), `"updateStrategy":{"rollingUpdate":{"partition":3}}`), Settled,
			Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`), Settled)},
		{"members are resized in place with another image, and back in the middle", ordered(3), steps(
			sized(2, "100m"), Settled, Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"IfPossible"}}}}}`),
			sized(3, "200m"), updated(1), sized(2, "100m"), Settled, sized(4, "300m"), Settled)},
		{"members are drained before they are updated in place, and an update is reverted meanwhile", ordered(3), steps(
			Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"IfPossible","drainSeconds":1}}}}}`), image(2), Settled,
			image(3), updated(1), image(2), Settled, image(0), Wait{"a member does not become ready", notBroken}, image(3), Settled)},
		{"a claim template is added, and the other one removed", ordered(3), steps(
			templates("data", "log"), Settled, templates("log"), updated(0), templates("data", "log"), Settled)},
		{"members are removed and come back, before their claims are deleted and while they are", ordered(3), steps(
			Patch(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete","scaledAfterSeconds":1}}}`),
			scale(1), Settled, scale(3), Settled, scale(2), Settled, scale(3), scale(1), Settled, scale(3), Settled)},
		{"a gate is asked, and does not answer before its timeout", ordered(3), steps(
			Patch(`{"spec":{"disruption":{"gates":[{"conditionType":"example.com/handed-over","timeoutSeconds":1}]}}}`), image(2), Settled, image(3),
			updated(1), image(2), Settled, scale(2), Settled)},
		{"overrides are added, changed in the middle of an update, and removed", ordered(3), steps(
			overrides("0", "big"), Settled, image(2), updated(1), overrides("2", "small"), Settled, overrides("2", "big"), overrides("1", "big"),
			Settled)},
		{"members get parameters, get other ones in the middle of an update, and lose them", ordered(3), steps(
			named(2, `{}`), Settled, scale(4), named(3, `{"env":["ORDINAL"]}`), updated(1), scale(2), Settled, named(4, "null"), updated(1),
			scale(3), Settled)},
		{"members have objects, whose descriptions change in the middle of an update", ordered(0), steps(
			describes(1, v1.UseExistingObject), scale(3), Settled, describes(2, v1.UseExistingObject), image(2), updated(1),
			describes(3, v1.UseExistingObject), scale(4), Settled,
			scale(2), describesAs("renamed", 4, v1.UseExistingObject), Settled, scale(3), Settled)},
		{"members are removed and come back, before their objects are deleted and while they are", ordered(0), steps(
			retains(1, 1), scale(3), Settled, scale(1), Settled, scale(3), Settled, scale(2), Settled, scale(3), scale(1), Settled, retains(2, 2),
			scale(3), Settled)},
		{"a template of objects is removed in the middle of an update, comes back, and is removed for good", ordered(0), steps(
			retains(1, 1), scale(3), Settled, image(2), updated(1), retainsOne(1), Settled, retains(2, 2), Settled, scale(2), retainsOne(2),
			retains(2, 2), Settled, scale(3), image(1), retainsOne(3), Settled)},
		{"objects are deleted with their set, which is recreated at once, and stay after an orphaning deletion", ordered(0), steps(
			ends(1, v1.DeleteObjectRetentionPolicyType), scale(3), Settled, scale(2), Settled, Delete(metav1.DeletePropagationBackground), Create{},
			ends(2, v1.DeleteObjectRetentionPolicyType), scale(2), Settled,
			Delete(metav1.DeletePropagationOrphan), Orphaned, Create{}, ends(3, v1.DeleteObjectRetentionPolicyType), scale(2), Settled,
			ends(3, v1.RetainObjectRetentionPolicyType), Settled, ends(3, v1.DeleteObjectRetentionPolicyType), scale(1), Settled)},
		{"a member comes back while its set changes which objects are deleted with it", ordered(0), steps(
			ends(1, v1.RetainObjectRetentionPolicyType), scale(2), Settled, scale(1), Settled, ends(1, v1.DeleteObjectRetentionPolicyType), Settled,
			with(ends(1, v1.RetainObjectRetentionPolicyType), `"replicas":2`), Settled, scale(1), Settled,
			ends(1, v1.DeleteObjectRetentionPolicyType), Settled,
			ends(1, v1.RetainObjectRetentionPolicyType), Settled, with(ends(1, v1.DeleteObjectRetentionPolicyType), `"replicas":2`), Settled)},
		{"Secrets are generated, and stay while members and their set are deleted and recreated", ordered(0), steps(
			draws, scale(3), Settled, EndPod{Ordinal: 1}, scale(1), Settled, scale(2), Settled, Delete(metav1.DeletePropagationBackground), Create{},
			draws, scale(3), Settled)},
		{"objects are lost and changed by hand", ordered(0), steps(
			describes(1, v1.UseExistingObject), scale(3), Settled,
			DeleteObject(Name+"-0-conf"), PatchObject{Name + "-2-conf", `{"data":{"member":"nobody"}}`}, Settled,
			describes(2, v1.UseExistingObject), Settled)},
	}
}

// with returns a patch that also changes another field of the spec.
func with(patch Patch, field string) Patch {
	return Patch(strings.Replace(string(patch), `{"spec":{`, `{"spec":{`+field+`,`, 1))
}

func pause(paused bool) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":%t}}}}`, paused))
}

// sized changes the container to request so much CPU, with another image each time, by which the
// rules distinguish the revisions of pods.
func sized(version int, cpu string) Patch {
	return Patch(
		fmt.Sprintf(
			`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/web:%d","resources":{"requests":{"cpu":%q}}}]}}}}`,
			version, cpu))
}

// named changes the container to use the name of its member and the number of members, with another
// image each time, in a set with an identity.
func named(version int, identity string) Patch {
	return Patch(
		fmt.Sprintf(
			`{"spec":{"identity":%s,"template":{"spec":{"containers":[{"name":"main","image":"example.com/web:%d","args":["$(IDENTITY)","$(REPLICAS)"]}]}}}}`, identity, version))
}

// templates changes the claim templates, and makes existing members follow them.
func templates(names ...string) Patch {
	var all []string
	for _, name := range names {
		all = append(all,
			fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, name))
	}
	return Patch(`{"spec":{"volumeClaimUpdate":{"policy":"NewClaims"},"volumeClaimTemplates":[` + strings.Join(all, ",") + `]}}`)
}

// sizeLabel is the label that the overrides of scenarios set.
const sizeLabel = "size"

// overrides adds a label to the member with an ordinal, and to no other member.
func overrides(ordinal, size string) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"overrides":[{"name":"odd","ordinals":[{"first":%s}],"labels":{%q:%q}}]}}`, ordinal, sizeLabel, size))
}

// notPaused waits until the status records the paused update and all members are ready. An update
// that was complete before the controller observed the pause is not paused.
func notPaused(o Observed) string {
	switch {
	case o.Set == nil || !isSettled(o.Set) && (o.Set.Status.Rollout == nil || o.Set.Status.Rollout.Step == 0):
		return "the status does not record which members the update has reached"
	case o.Set.Status.ReadyReplicas != *o.Set.Spec.Replicas:
		return fmt.Sprintf("%d members are ready", o.Set.Status.ReadyReplicas)
	}
	return ""
}

// notRolledBack waits until the status records the rollback and all members are at the current
// revision again. It checks the pods, because a controller that has not observed a removal yet
// counts a member that no longer exists.
func notRolledBack(o Observed) string {
	if o.Set == nil || !GoesBack(o.Set) {
		return "the status does not record that the update is rolled back"
	}
	if n := o.readyWith(false); n != int(*o.Set.Spec.Replicas) {
		return fmt.Sprintf("%d members are ready at the current revision", n)
	}
	return ""
}

// GoesBack reports whether the status says that members must return to the current revision.
func GoesBack(set *v1.StatefulSet) bool {
	rollout := set.Status.Rollout
	return rollout != nil && rollout.Revision == set.Status.UpdateRevision && (rollout.Rollback || rollout.Aborted) &&
		len(rollout.Superseded) == 0
}

// IsReached reports whether an update may bring a member to the update revision: the member is at
// or after the partition, and if the update is paused or at a step, the status names the member.
func IsReached(set *v1.StatefulSet, ordinal int) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	switch {
	case rolling == nil:
		return true
	case GoesBack(set), rolling.Partition != nil && ordinal-firstOrdinal(set) < int(*rolling.Partition):
		return false
	case !rolling.IsPaused() && (!isAtStep(set) || isSettled(set)):
		return true
	}
	rollout := set.Status.Rollout
	return rollout != nil && slices.ContainsFunc(slices.Concat(rollout.Released, rollout.Superseded), func(r v1.OrdinalRange) bool {
		return int(r.First) <= ordinal && ordinal <= int(r.End())
	})
}

// isSettled reports whether the status says that no update is in progress, for example after the
// first status of the set was lost: then a member with another revision is brought to the update
// revision.
func isSettled(set *v1.StatefulSet) bool {
	status := set.Status
	return status.Rollout == nil && status.ObservedGeneration == set.Generation && status.CurrentRevision == status.UpdateRevision
}

// isAtStep reports whether an update of the set has steps, and has not completed them all.
func isAtStep(set *v1.StatefulSet) bool {
	most, rollout := len(set.Spec.UpdateStrategy.RollingUpdate.Steps), set.Status.Rollout
	return most > 0 && (rollout == nil || int(rollout.Step) <= most && !rollout.PromotedAll)
}

// MountsOtherwise reports whether a pod mounts other claims than its set's claim templates require.
func MountsOtherwise(set *v1.StatefulSet, pod *corev1.Pod) bool {
	if set.Spec.VolumeClaimUpdate == nil {
		return false
	}
	var wanted, got []string
	for i := range set.Spec.VolumeClaimTemplates {
		wanted = append(wanted, set.Spec.VolumeClaimTemplates[i].Name+"-"+pod.Name)
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			got = append(got, volume.PersistentVolumeClaim.ClaimName)
		}
	}
	slices.Sort(wanted)
	slices.Sort(got)
	return !slices.Equal(wanted, got)
}

// IsOtherwise reports whether a pod differs from the pod of the same revision or image that its set
// would create for the member now: it mounts other claims, has another override, or has other
// parameters.
func IsOtherwise(set *v1.StatefulSet, pod *corev1.Pod) bool {
	return MountsOtherwise(set, pod) || pod.Labels[sizeLabel] != size(set, pod.Name) || isToldOtherwise(set, pod)
}

// isToldOtherwise reports whether a pod has parameters that its set does not inject now, or lacks
// some.
func isToldOtherwise(set *v1.StatefulSet, pod *corev1.Pod) bool {
	told := func(parameter string) bool {
		return slices.ContainsFunc(pod.Spec.Containers[0].Env, func(v corev1.EnvVar) bool { return v.Name == parameter })
	}
	given := set.Spec.Identity != nil
	names := slices.Contains(set.Spec.Template.Spec.Containers[0].Args, "$(IDENTITY)")
	return told("IDENTITY") != (given && names) || told("ORDINAL") != (given && slices.Contains(set.Spec.Identity.Env, "ORDINAL"))
}

// size returns the label value that the overrides of a set define for a member.
func size(set *v1.StatefulSet, pod string) string {
	for _, override := range set.Spec.Overrides {
		for _, r := range override.Ordinals {
			if pod == fmt.Sprintf("%s-%d", set.Name, r.First) {
				return override.Labels[sizeLabel]
			}
		}
	}
	return ""
}

// reserve removes the member in the middle, and free brings it back.
const (
	reserve = Patch(`{"spec":{"replicas":2,"ordinals":{"reserved":[{"first":1}]}}}`)
	free    = Patch(`{"spec":{"replicas":3,"ordinals":{"reserved":null}}}`)
)

func notBroken(o Observed) string {
	for i := range o.Pods {
		if o.Pods[i].Spec.Containers[0].Image == Unlucky && o.Pods[i].DeletionTimestamp == nil {
			return ""
		}
	}
	return fmt.Sprintf("none of %d pods has the image %s", len(o.Pods), Unlucky)
}

// RestartOf returns the status that a node gives a pod that is updated in place: its container runs
// its new image, with its resources, or waits for the image if that is Unlucky. It reports false if
// the pod has this status already.
func RestartOf(pod *corev1.Pod) (status corev1.ContainerStatus, ready corev1.ConditionStatus, needed bool) {
	container, id := &pod.Spec.Containers[0], fmt.Sprintf("test://%d/%s", pod.Generation, pod.Spec.Containers[0].Image)
	status, ready = corev1.ContainerStatus{Name: container.Name, ContainerID: id, Resources: container.Resources.DeepCopy()},
		corev1.ConditionTrue
	if container.Image == Unlucky {
		status.ContainerID, ready = "", corev1.ConditionFalse
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}
	}
	_, noted := pod.Annotations[v1.InPlaceAnnotation]
	now := corev1.ContainerStatus{}
	if len(pod.Status.ContainerStatuses) > 0 {
		now = pod.Status.ContainerStatuses[0]
	}
	return status, ready, noted && (now.ContainerID != status.ContainerID || !equality.Semantic.DeepEqual(now.Resources, status.Resources) ||
		(now.State.Waiting == nil) != (status.State.Waiting == nil))
}
