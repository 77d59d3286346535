// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// followers returns notes about the objects that refer to the set: those that refer to its old kind
// and need a manual change, those that keep working, and kinds that cannot be listed.
func (c cluster) followers(ctx context.Context, key types.NamespacedName, from, to schema.GroupVersion,
	members map[string]string) []string {
	notes := c.horizontal(ctx, key, from, to)
	notes = append(notes, c.vertical(ctx, key, from, to)...)
	return append(notes, c.budgets(ctx, key, members)...)
}

func (c cluster) horizontal(ctx context.Context, key types.NamespacedName, from, to schema.GroupVersion) []string {
	autoscalers, err := c.host.AutoscalingV2().HorizontalPodAutoscalers(key.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []string{fmt.Sprintf("note: HorizontalPodAutoscalers could not be listed: %v", err)}
	}
	var notes []string
	for i := range autoscalers.Items {
		target := autoscalers.Items[i].Spec.ScaleTargetRef
		if pointsAt(target.APIVersion, target.Kind, target.Name, key.Name, from) {
			notes = append(notes, fmt.Sprintf(
				"to change: HorizontalPodAutoscaler %[1]s scales the %[2]s set, and stops scaling when that set is deleted; after the move, run: kubectl patch hpa %[1]s -n %[3]s --type=merge -p '{\"spec\":{\"scaleTargetRef\":{\"apiVersion\":%[4]q}}}'",
				autoscalers.Items[i].Name, from, key.Namespace, to))
		}
	}
	return notes
}

func (c cluster) vertical(ctx context.Context, key types.NamespacedName, from, to schema.GroupVersion) []string {
	resource := schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}
	autoscalers, err := c.dynamic.Resource(resource).Namespace(key.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		// Most clusters do not have the kind.
		return nil
	}
	var notes []string
	for i := range autoscalers.Items {
		target, _, _ := unstructured.NestedStringMap(autoscalers.Items[i].Object, "spec", "targetRef")
		if pointsAt(target["apiVersion"], target["kind"], target["name"], key.Name, from) {
			notes = append(notes,
				fmt.Sprintf("to change: VerticalPodAutoscaler %s refers to the %s set; after the move, set spec.targetRef.apiVersion to %s",
					autoscalers.Items[i].GetName(), from, to))
		}
	}
	return notes
}

func pointsAt(apiVersion, kind, name, set string, version schema.GroupVersion) bool {
	target, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && target.Group == version.Group && kind == v1.Kind && name == set
}

func (c cluster) budgets(ctx context.Context, key types.NamespacedName, members map[string]string) []string {
	budgets, err := c.host.PolicyV1().PodDisruptionBudgets(key.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []string{fmt.Sprintf("note: PodDisruptionBudgets could not be listed: %v", err)}
	}
	var notes []string
	for i := range budgets.Items {
		selector, err := metav1.LabelSelectorAsSelector(budgets.Items[i].Spec.Selector)
		if err == nil && !selector.Empty() && selector.Matches(labels.Set(members)) {
			notes = append(notes, fmt.Sprintf("stays: PodDisruptionBudget %s selects the pods by their labels", budgets.Items[i].Name))
		}
	}
	return notes
}
