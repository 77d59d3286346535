// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// check returns why a set must not be moved, before anything is changed.
func (m *mover) check(ctx context.Context, s situation, decide route) error {
	next, err := decide(s)
	if err != nil || next == done {
		return err
	}
	leaver := s.leavingObject(m.back)
	if leaver == nil {
		return nil
	}
	if owner := metav1.GetControllerOfNoCopy(leaver); owner != nil {
		return fmt.Errorf("the set is controlled by %s %s %s, which would recreate it; move that object, or end its ownership first", owner.APIVersion,
			owner.Kind, owner.Name)
	}
	if others := ownFinalizers(leaver); len(others) > 0 {
		return fmt.Errorf("the set has finalizers (%s), so it would not be deleted; remove them first", strings.Join(others, ", "))
	}
	if tools := deployers(leaver); len(tools) > 0 && !m.allowManaged {
		return fmt.Errorf(
			"the set is deployed by %s, which would recreate it, and the recreated set would adopt the pods; pause the deployment, change apiVersion in its manifest, then run this with --allow-managed", strings.Join(tools, " and "))
	}
	if m.back {
		refusals := []error{refuseHoles(s.ours), refuseRollout(s.ours, s.pods), refuseUnmountedClaims(s.ours, s.pods),
			refuseOverridden(s.ours, s.pods),
			refuseRendered(s.ours, s.revisions, s.pods), refuseRequested(s.ours, s.pods), refuseRestarting(s.ours, s.pods)}
		if err := cmp.Or(refusals...); err != nil {
			return err
		}
	}
	if m.back && !m.dropExtraFields {
		if err := refuseExtraFields(s.stored); err != nil {
			return err
		}
	}
	return m.tryCreate(ctx, s, next)
}

// leavingObject returns the set that the move deletes, nil if it is already deleted.
func (s *situation) leavingObject(back bool) metav1.Object {
	switch {
	case back && s.ours != nil:
		return s.ours
	case !back && s.theirs != nil:
		return s.theirs
	default:
		return nil
	}
}

// ownFinalizers returns the finalizers except those of the garbage collector.
func ownFinalizers(object metav1.Object) []string {
	return slices.DeleteFunc(slices.Clone(object.GetFinalizers()), func(name string) bool {
		return name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents
	})
}

// refuseHoles refuses a set to whose members apps/v1 would give other ordinals.
func refuseHoles(set *v1.StatefulSet) error {
	if set == nil {
		return nil
	}
	roster := identity.OrdinalsOf(set)
	highest, wanted := roster.Last()
	hole := 0
	if ordinals := set.Spec.Ordinals; ordinals != nil {
		hole = int(ordinals.Start)
	}
	if ranges := roster.Ranges(); wanted && roster.First() == hole {
		hole = int(ranges[0].End()) + 1
	}
	if !wanted || hole > highest {
		return nil
	}
	return fmt.Errorf(
		"ordinal %d is reserved: apps/v1 would create %s and remove %s; scale the set or move its members first, so that no ordinal below the highest is reserved",
		hole, identity.PodName(set.Name, hole), identity.PodName(set.Name, highest))
}

// refuseUnmountedClaims refuses a set with members that do not mount the claims of changed
// templates yet: apps/v1 would not recreate these members, and other members would have other
// claims.
func refuseUnmountedClaims(set *v1.StatefulSet, pods []corev1.Pod) error {
	if set == nil || set.Spec.VolumeClaimUpdate == nil {
		return nil
	}
	for i := range pods {
		name, ordinal, named := identity.ParsePodName(pods[i].Name)
		if !named || name != set.Name || !metav1.IsControlledBy(&pods[i], set) || identity.MountsClaims(set, ordinal, &pods[i]) {
			continue
		}
		for j := range set.Spec.VolumeClaimTemplates {
			one := set.DeepCopy()
			one.Spec.VolumeClaimTemplates = set.Spec.VolumeClaimTemplates[j : j+1]
			if !identity.MountsClaims(one, ordinal, &pods[i]) {
				return fmt.Errorf("pod %s does not mount claim %s yet; wait until the controller has recreated the pod, or delete it", pods[i].Name,
					identity.ClaimName(set.Spec.VolumeClaimTemplates[j].Name, set.Name, ordinal))
			}
		}
	}
	return nil
}

// refuseRequested refuses a set with a gate request for a member: in apps/v1 no controller would
// withdraw the request, and the pod could stay out of service.
func refuseRequested(set *v1.StatefulSet, pods []corev1.Pod) error {
	if set == nil {
		return nil
	}
	for i := range pods {
		if _, asked := pods[i].Annotations[v1.DisruptionAnnotation]; asked && metav1.IsControlledBy(&pods[i], set) {
			return fmt.Errorf("the gates of spec.disruption are requested for %s; wait until they agree, or revert the change that needs them",
				pods[i].Name)
		}
	}
	return nil
}

// refuseRestarting refuses a set during an in-place update: apps/v1 does not know that a member
// with a ready pod is about to restart, and would also remove another pod.
func refuseRestarting(set *v1.StatefulSet, pods []corev1.Pod) error {
	if set == nil {
		return nil
	}
	for i := range pods {
		if _, restarts := pods[i].Annotations[v1.InPlaceAnnotation]; restarts && metav1.IsControlledBy(&pods[i], set) {
			return fmt.Errorf("pod %s is being updated in place; wait until its containers have restarted, or delete it", pods[i].Name)
		}
		if isOutOfService(&pods[i]) && metav1.IsControlledBy(&pods[i], set) {
			return fmt.Errorf("pod %s is out of service; wait until its containers have restarted, or delete it", pods[i].Name)
		}
	}
	return nil
}

// isOutOfService reports whether the readiness of a pod depends on a condition that only our
// controller sets, and that is not True.
func isOutOfService(pod *corev1.Pod) bool {
	gated := slices.ContainsFunc(pod.Spec.ReadinessGates,
		func(gate corev1.PodReadinessGate) bool { return gate.ConditionType == v1.PodInService })
	return gated && !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == v1.PodInService && c.Status == corev1.ConditionTrue
	})
}

// refuseOverridden refuses a set with members that were created with overrides: apps/v1 would
// recreate them without the overrides.
func refuseOverridden(set *v1.StatefulSet, pods []corev1.Pod) error {
	if set == nil {
		return nil
	}
	overrides := identity.OverridesOf(set)
	for i := range pods {
		name, ordinal, named := identity.ParsePodName(pods[i].Name)
		made, overridden := pods[i].Annotations[v1.OverrideAnnotation]
		if !named || name != set.Name || !metav1.IsControlledBy(&pods[i], set) || !overridden {
			continue
		}
		if override := overrides.Of(ordinal); override != nil && made == overrides.Hash(ordinal) {
			return fmt.Errorf("pod %s was created with override %s; remove it from spec.overrides, and wait until the controller has recreated the pod",
				pods[i].Name, override.Name)
		}
		return fmt.Errorf("pod %s was created with an earlier override; wait until the controller has recreated it, or delete it", pods[i].Name)
	}
	return nil
}

func refuseExtraFields(stored []byte) error {
	extra, err := extraFields(stored)
	if err != nil {
		return err
	}
	if len(extra) > 0 {
		return fmt.Errorf("apps/v1 does not have these fields of the set: %s; remove them, or lose them with --drop-extra-fields",
			strings.Join(extra, ", "))
	}
	return nil
}

// tryCreate checks with a dry run that the target server accepts the set.
func (m *mover) tryCreate(ctx context.Context, s situation, next step) error {
	trial := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	switch {
	case next == createOurs:
		if err := m.createOurs(ctx, s, trial); err != nil {
			return fmt.Errorf("%s would refuse the set: %w", v1.GroupName, err)
		}
	case m.back && s.theirs == nil && s.ours != nil:
		if err := m.createTheirs(ctx, s, trial); err != nil {
			return fmt.Errorf("apps/v1 would refuse the set: %w", err)
		}
	}
	return nil
}
