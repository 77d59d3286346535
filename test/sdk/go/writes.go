// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client"
	apply "statefulset.dev/client/applyconfiguration/apps/v1"
	"statefulset.dev/test/harness"
)

func writes() []scenario {
	return []scenario{
		{"CRUD", crud}, {"scale", scale}, {"/plan", plan}, {"SSA conflict", conflict},
		{"IntOrString", intOrString}, {"Quantity", quantity},
	}
}

func crud(p play) error {
	if err := p.create("crud"); err != nil {
		return err
	}
	var set *v1.StatefulSet
	// The controller writes as well.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		if set, err = p.sets.Get(p, "crud", metav1.GetOptions{}); err != nil {
			return err
		}
		set.Annotations = map[string]string{"put": "yes"}
		set, err = p.sets.Update(p, set, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	for kind, patch := range map[types.PatchType]string{
		types.MergePatchType:          `{"metadata":{"annotations":{"merge":"yes"}}}`,
		types.StrategicMergePatchType: `{"spec":{"template":{"spec":{"containers":[{"name":"second","image":"example.test/second:1"}]}}}}`,
		types.JSONPatchType:           `[{"op":"add","path":"/metadata/annotations/json","value":"yes"}]`,
		types.ApplyYAMLPatchType:      `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"crud","annotations":{"apply":"yes"}}}`,
	} {
		options := metav1.PatchOptions{FieldManager: "crud"}
		if set, err = client.Patch(p, p.sets, "crud", kind, []byte(patch), options); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	for _, key := range []string{"merge", "json", "apply"} {
		if err := want("annotation "+key, set.Annotations[key], "yes"); err != nil {
			return err
		}
	}
	if err := want("containers", len(set.Spec.Template.Spec.Containers), 2); err != nil {
		return err
	}
	if err := p.sets.Delete(p, "crud", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = p.sets.Get(p, "crud", metav1.GetOptions{})
	return want("gone", apierrors.IsNotFound(err), true)
}

func scale(p play) error {
	if err := p.create("scale"); err != nil {
		return err
	}
	now, err := p.sets.GetScale(p, "scale", metav1.GetOptions{})
	if err != nil {
		return err
	}
	version := now.ResourceVersion
	now.Spec.Replicas, now.ResourceVersion = 2, "" // the controller may write meanwhile
	if _, err := p.sets.UpdateScale(p, "scale", now, metav1.UpdateOptions{}); err != nil {
		return err
	}
	for change, err := range client.Watch(p, p.sets, metav1.ListOptions{ResourceVersion: version, FieldSelector: "metadata.name=scale"}) {
		if err != nil {
			return err
		}
		if change.Set.Status.ReadyReplicas == 2 {
			return want("replicas", *change.Set.Spec.Replicas, 2)
		}
	}
	return errors.New("the watch ended before 2 members were ready")
}

func plan(p play) error {
	if err := p.create("plan"); err != nil {
		return err
	}
	proposed := &autoscalingv1.Scale{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{Name: "plan"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	after, err := p.sets.CreatePlanOfScale(p, "plan", proposed, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := want("rounds for 3 members", len(after.Rounds) >= 3, true); err != nil {
		return err
	}
	set, err := p.sets.Get(p, "plan", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return want("replicas after the plan", *set.Spec.Replicas, 0)
}

func conflict(p play) error {
	if err := p.create("ssa"); err != nil {
		return err
	}
	minReady := func(seconds int32) *apply.StatefulSetApplyConfiguration {
		return apply.StatefulSet("ssa", "").WithNamespace("").WithSpec(apply.StatefulSetSpec().WithMinReadySeconds(seconds))
	}
	if _, err := p.sets.Apply(p, minReady(1), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	_, err := p.sets.Apply(p, minReady(2), metav1.ApplyOptions{FieldManager: "two"})
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) != 1 {
		return fmt.Errorf("apply by another manager: got error %w, want a conflict with one cause", err)
	}
	if err := want("conflicting field", status.Status().Details.Causes[0].Field, ".spec.minReadySeconds"); err != nil {
		return err
	}
	set, err := p.sets.Apply(p, minReady(2), metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	return want("minReadySeconds after a forced apply", set.Spec.MinReadySeconds, 2)
}

func intOrString(p play) error {
	for name, value := range map[string]intstr.IntOrString{"number": intstr.FromInt32(2), "share": intstr.FromString("25%")} {
		set := harness.NewSet(name, 0)
		set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{
			Type:          v1.RollingUpdateStatefulSetStrategyType,
			RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{MaxUnavailable: &value},
		}
		made, err := p.sets.Create(p, set, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := want("maxUnavailable", *made.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, value); err != nil {
			return err
		}
	}
	return nil
}

func quantity(p play) error {
	spelled := corev1.ResourceList{}
	for name, text := range map[corev1.ResourceName]string{"cpu": "250m", "memory": "1536Mi", "ephemeral-storage": "1e3"} {
		spelled[name] = resource.MustParse(text)
	}
	set := harness.NewSet("quantity", 0)
	set.Spec.Template.Spec.Containers[0].Resources.Requests = spelled
	made, err := p.sets.Create(p, set, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for name, value := range made.Spec.Template.Spec.Containers[0].Resources.Requests {
		sent := spelled[name]
		if err := want(string(name), value.String(), sent.String()); err != nil {
			return err
		}
	}
	return want("requests", len(made.Spec.Template.Spec.Containers[0].Resources.Requests), 3)
}
