// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command example takes a set through its life with the Go client, in the namespace that the kubeconfig names.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client"
	apply "statefulset.dev/client/applyconfiguration/apps/v1"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
)

const name = "example-go"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	clients, namespace, err := client.Connect("")
	if err == nil {
		err = live(ctx, clients.AppsV1().StatefulSets(namespace))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

func live(ctx context.Context, sets typed.StatefulSetInterface) error {
	set, err := sets.Create(ctx, web(), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Println("created", set.Name)
	if err := ready(ctx, sets, set.ResourceVersion, 1); err != nil {
		return err
	}

	scale, err := sets.GetScale(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas, scale.ResourceVersion = 2, "" // whatever the controller writes meanwhile
	if scale, err = sets.UpdateScale(ctx, name, scale, metav1.UpdateOptions{}); err != nil {
		return err
	}
	fmt.Println("scaled to", scale.Spec.Replicas)
	if err := ready(ctx, sets, scale.ResourceVersion, 2); err != nil {
		return err
	}

	plan, err := sets.CreatePlanOfScale(ctx, name, &autoscalingv1.Scale{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: 4},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("plan for 4 replicas: %d rounds\n", len(plan.Rounds))
	if err := patch(ctx, sets); err != nil {
		return err
	}
	if err := sets.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	fmt.Println("deleted", name)
	return nil
}

func web() *v1.StatefulSet {
	labels := map[string]string{"app": name}
	replicas := int32(1)
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.StatefulSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1"}}},
			},
		},
	}
}

// ready watches until all members serve.
func ready(ctx context.Context, sets typed.StatefulSetInterface, version string, replicas int32) error {
	for change, err := range client.Watch(ctx, sets, metav1.ListOptions{ResourceVersion: version, FieldSelector: "metadata.name=" + name}) {
		if err != nil {
			return err
		}
		if status := change.Set.Status; status.ObservedGeneration == change.Set.Generation && status.ReadyReplicas == replicas {
			break
		}
	}
	fmt.Println("ready:", replicas)
	return nil
}

// patch changes the set in all four ways, the last of which meets another manager.
func patch(ctx context.Context, sets typed.StatefulSetInterface) error {
	for _, p := range []struct {
		way  string
		kind types.PatchType
		text string
	}{
		{"merge", types.MergePatchType, `{"metadata":{"annotations":{"by":"merge"}}}`},
		{"strategic", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:2"}]}}}}`},
		{"json", types.JSONPatchType, `[{"op":"replace","path":"/metadata/annotations/by","value":"json"}]`},
	} {
		if _, err := client.Patch(ctx, sets, name, p.kind, []byte(p.text), metav1.PatchOptions{FieldManager: "example"}); err != nil {
			return err
		}
		fmt.Println("patched:", p.way)
	}
	wanted := apply.StatefulSet(name, "").WithAnnotations(map[string]string{"by": "apply"})
	_, err := sets.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "another"})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("applying what another manager has: got error %w, want a conflict", err)
	}
	fmt.Println("conflict:", err)
	if _, err := sets.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "another", Force: true}); err != nil {
		return err
	}
	fmt.Println("patched: apply")
	return nil
}
