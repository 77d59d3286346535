// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

func TestMetadataThatGoesAlong(t *testing.T) {
	theirs := theirSet(func(s *appsv1.StatefulSet) {
		s.Labels = map[string]string{"app": "web"}
		s.ResourceVersion = "7"
		s.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		s.Annotations = map[string]string{"note": "kept", lastApplied: `{"apiVersion":"apps/v1","kind":"StatefulSet"}`}
	})
	ours, err := toOurs(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if ours.UID != "" || ours.ResourceVersion != "" || ours.Generation != 0 || len(ours.ManagedFields) > 0 {
		t.Errorf("UID %q, resourceVersion %q, generation %d, managed fields %v go along, want none", ours.UID, ours.ResourceVersion,
			ours.Generation, ours.ManagedFields)
	}
	if ours.Labels["app"] != "web" || ours.Annotations["note"] != "kept" {
		t.Errorf("labels %v and annotations %v go along, want app=web and note=kept", ours.Labels, ours.Annotations)
	}
	if got, want := ours.Annotations[lastApplied], `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet"}`+"\n"; got != want {
		t.Errorf("the manifest last applied is %q, want %q", got, want)
	}
	ours.Annotations[v1.HoldAnnotation] = leavingMark
	back, err := toTheirs(ours)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := back.Annotations[v1.HoldAnnotation]; ok || !strings.Contains(back.Annotations[lastApplied], `"apiVersion":"apps/v1"`) {
		t.Errorf("annotations of the way back are %v, want no hold, and a manifest of apps/v1", back.Annotations)
	}
}

func TestWhatTwoSetsWantDifferently(t *testing.T) {
	const field = "spec.updateStrategy.rollingUpdate.maxUnavailable"
	for sentence, test := range map[string]struct {
		theirs, ours *intstr.IntOrString
		want         []string
	}{
		"a host that knows the field has filled it in":             {new(intstr.FromInt32(1)), new(intstr.FromInt32(1)), nil},
		"a host that does not know the field does as if it were 1": {nil, new(intstr.FromInt32(1)), nil},
		"a host that does not know the field has dropped it":       {nil, new(intstr.FromInt32(2)), []string{field}},
		"a webhook has changed it":                                 {new(intstr.FromInt32(3)), new(intstr.FromInt32(2)), []string{field}},
	} {
		t.Run(sentence, func(t *testing.T) {
			theirs := theirSet(func(s *appsv1.StatefulSet) {
				s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: test.theirs}
			})
			ours, err := toOurs(theirs)
			if err != nil {
				t.Fatal(err)
			}
			ours.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = test.ours
			if got := differences(theirs, ours); !slices.Equal(got, test.want) {
				t.Errorf("they differ in %q, want %q", got, test.want)
			}
		})
	}
}

func TestABlockThatAppsV1WouldNotHaveIsLeftOut(t *testing.T) {
	ours := ourSet("")
	ours.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{ReplaceUnreadyAfterSeconds: new(int32(300))}}
	theirs, err := toTheirs(ours)
	if err != nil {
		t.Fatal(err)
	}
	if rolling := theirs.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		t.Errorf("the set of apps/v1 has the block %v, which is filled in with a partition; want none", rolling)
	}
	if got := differences(theirs, ours); len(got) > 0 {
		t.Errorf("the sets differ in %v, want in nothing that apps/v1 can say", got)
	}
}

func TestExtraFields(t *testing.T) {
	plain := ourSet("")
	v1.SetObjectDefaults_StatefulSet(plain)
	for sentence, test := range map[string]struct {
		change func(spec map[string]any)
		want   []string
	}{
		"a plain set has none": {func(map[string]any) {}, nil},
		"one that this program knows": {
			func(spec map[string]any) { spec["progressDeadlineSeconds"] = 60 }, []string{"spec.progressDeadlineSeconds"}},
		"templates of objects": {func(spec map[string]any) {
			spec["objectTemplates"] = []any{map[string]any{"name": "conf",
				"object": map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "$(IDENTITY)-conf"}}}}
		}, []string{"spec.objectTemplates"}},
		"one that only a newer server knows": {
			func(spec map[string]any) { spec["surprise"] = map[string]any{"a": 1} }, []string{"spec.surprise"}},
		"one inside of another": {
			func(spec map[string]any) { spec["updateStrategy"].(map[string]any)["surge"] = 1 }, []string{"spec.updateStrategy.surge"}},
		"one in a block that apps/v1 would not have": {func(spec map[string]any) {
			spec["updateStrategy"] = map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"replaceUnreadyAfterSeconds": 300}}
		}, []string{"spec.updateStrategy.rollingUpdate"}},
		"one in a block that apps/v1 has": {func(spec map[string]any) {
			spec["updateStrategy"].(map[string]any)["rollingUpdate"].(map[string]any)["order"] = map[string]any{
				"direction": "Ascending", "last": []any{map[string]any{"matchLabels": map[string]any{"role": "leader"}}}}
		}, []string{"spec.updateStrategy.rollingUpdate.order"}},
		"a delay after which claims are deleted, which are retained then": {func(spec map[string]any) {
			spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": "Retain", "whenScaled": "Delete", "scaledAfterSeconds": 60}
		}, []string{"spec.persistentVolumeClaimRetentionPolicy.scaledAfterSeconds", "spec.persistentVolumeClaimRetentionPolicy.whenScaled"}},
		"two of them, in the order of their name": {func(spec map[string]any) { spec["z"], spec["a"] = 1, 1 }, []string{"spec.a", "spec.z"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var object map[string]any
			if err := recode(plain, &object); err != nil {
				t.Fatal(err)
			}
			test.change(object["spec"].(map[string]any))
			stored, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			got, err := extraFields(stored)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("extra fields are %v with error %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestDeployersAreRecognized(t *testing.T) {
	for sentence, test := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"no deployer":   {metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, ""},
		"kubectl apply": {metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}}, ""},
		"Argo CD by annotation": {
			metav1.ObjectMeta{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "shop:apps/StatefulSet:a/web"}}, "Argo CD"},
		"Argo CD by its writes": {metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "argocd-controller"}}}, "Argo CD"},
		"Flux kustomization": {
			metav1.ObjectMeta{Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "shop"}}, `Flux (kustomization "shop")`},
		"Flux helm release": {metav1.ObjectMeta{Labels: map[string]string{"helm.toolkit.fluxcd.io/name": "shop"},
			Annotations: map[string]string{"meta.helm.sh/release-name": "shop"}}, `Flux (helm release "shop")`},
		"Helm": {
			metav1.ObjectMeta{Annotations: map[string]string{"meta.helm.sh/release-name": "shop"}}, `Helm (release "shop")`},
		"Helm wrote status alone": {metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "helm", Subresource: "status"}}}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := strings.Join(deployers(&test.meta), "; ")
			if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
				t.Errorf("deployed by %q, want %q", got, test.want)
			}
		})
	}
}
