// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// checkSets checks every set of the namespace, and the claims of its members.
func (e *examiner) checkSets(ctx context.Context) []finding {
	about := "sets of namespace " + e.namespace
	if e.namespace == metav1.NamespaceAll {
		about = "sets of all namespaces"
	}
	sets, err := e.sets.AppsV1().StatefulSets(e.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	var found []finding
	ready := 0
	for i := range sets.Items {
		if f, ok := diagnose(&sets.Items[i]); ok {
			ready++
		} else {
			found = append(found, f)
		}
		found = append(found, undeleted(&sets.Items[i])...)
	}
	claims, err := e.host.CoreV1().PersistentVolumeClaims(e.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		found = append(found, skipFinding("claims of "+about, err))
	} else {
		found = append(found, lostVolumes(sets.Items, claims.Items)...)
		found = append(found, e.withoutClass(ctx, sets.Items, claims.Items)...)
		found = append(found, e.blockedByNodes(ctx, sets.Items, claims.Items)...)
	}
	found = append(found, checkRules(ctx, about, sets.Items)...)
	return append(found, okFinding(about, "%d of %d are ready", ready, len(sets.Items)))
}

// diagnose reports why a set is not ready. Of a ready set it returns no finding.
func diagnose(set *v1.StatefulSet) (f finding, ready bool) {
	about := fmt.Sprintf("set %s/%s", set.Namespace, set.Name)
	stalled, open := conditionOf(set, v1.StatefulSetStalled), conditionOf(set, v1.StatefulSetReady)
	switch {
	case set.Status.ObservedGeneration < set.Generation:
		return warnFinding(about, "the controller has not observed its current spec yet",
			"kubectl sts doctor  # run it again, and see what it reports about the controller"), false
	case stalled.Status == corev1.ConditionTrue:
		return failFinding(about, stalled.Reason+": "+stalled.Message, remedies(set, stalled.Reason)...), false
	case open.Status == corev1.ConditionTrue:
		return finding{}, true
	default:
		return warnFinding(about, open.Reason+": "+open.Message, remedies(set, open.Reason)...), false
	}
}

// undeleted reports claims that the controller should have deleted and could not. The set can still
// be ready.
func undeleted(set *v1.StatefulSet) (found []finding) {
	about := fmt.Sprintf("set %s/%s", set.Namespace, set.Name)
	for _, r := range set.Status.Reclaims {
		if r.Message == "" {
			continue
		}
		ordinals := fmt.Sprint(r.First)
		if r.Last != nil {
			ordinals += fmt.Sprintf("-%d", *r.Last)
		}
		reclaim := fmt.Sprintf("kubectl sts -n %s reclaim %s --ordinals=%s  # deletes their claims with your own rights", set.Namespace, set.Name,
			ordinals)
		found = append(found, warnFinding(about, r.Message, reclaim))
	}
	return found
}

// conditionOf returns the set's condition of a type, or one with the status Unknown.
func conditionOf(set *v1.StatefulSet, kind v1.StatefulSetConditionType) v1.StatefulSetCondition {
	if c := set.Status.Condition(kind); c.Type != "" {
		return c
	}
	return v1.StatefulSetCondition{Type: kind, Status: corev1.ConditionUnknown, Reason: "Unknown", Message: "the set has no such condition"}
}
