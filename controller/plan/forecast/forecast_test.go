// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

var update = flag.Bool("update", false, "write what is forecast now into testdata")

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// web is a set with three members and a claim each.
func web() *v1.StatefulSet {
	labels := map[string]string{"app": "web"}
	set := &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid", Generation: 1},
		Spec: v1.StatefulSetSpec{
			Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: "db:1"}}}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
		},
	}
	v1.SetObjectDefaults_StatefulSet(set)
	return set
}

// settled is the world in which a set has become what its spec wants.
func settled(t *testing.T, set *v1.StatefulSet) plan.World {
	t.Helper()
	return settledFrom(t, plan.World{Set: set, Now: noon})
}

// settledFrom is what a world settles at.
func settledFrom(t *testing.T, world plan.World) plan.World {
	t.Helper()
	h := newHost(world)
	for range MostRounds {
		p := plan.Compute(h.world())
		must(h.carryOut(p))
		if happened := h.react(p); len(p.All())+len(happened) == 0 {
			return h.world()
		}
	}
	t.Fatal("the set does not settle")
	return plan.World{}
}

// played is the forecast that somebody waits for to the end.
func played(t *testing.T, world plan.World) *v1.StatefulSetPlan {
	t.Helper()
	p, err := Play(world, t.Context().Err)
	if err != nil {
		t.Fatalf("playing a plan: %v", err)
	}
	return p
}

// proposed is the world with a changed set.
func proposed(world plan.World, change func(*v1.StatefulSet)) plan.World {
	world.Set = world.Set.DeepCopy()
	change(world.Set)
	world.Set.Generation++
	return world
}

func newImage(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = "db:2" }

// breakPod makes a pod of the world one that cannot start.
func breakPod(world plan.World, name string) plan.World {
	for i, pod := range world.Pods {
		if pod.Name == name {
			pod = pod.DeepCopy()
			pod.Status.Conditions[0].Status = corev1.ConditionFalse
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{
				{Name: "db", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
			world.Pods[i] = pod
		}
	}
	return world
}

// bound is the world with claims that have a volume of 1Gi each.
func bound(world plan.World) plan.World {
	for i, claim := range world.Claims {
		claim = claim.DeepCopy()
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: claim.Spec.Resources.Requests}
		world.Claims[i] = claim
	}
	return world
}

// TestForecasts compares plans with the texts below testdata.
func TestForecasts(t *testing.T) {
	all := inPlaceForecasts()
	maps.Copy(all, map[string]func(t *testing.T) *v1.StatefulSetPlan{
		"new-set":      func(t *testing.T) *v1.StatefulSetPlan { return played(t, plan.World{Set: web(), Now: noon}) },
		"nothing-open": func(t *testing.T) *v1.StatefulSetPlan { return Now(settled(t, web())) },
		"new-image": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), newImage))
		},
		"new-image-now": func(t *testing.T) *v1.StatefulSetPlan {
			return Now(proposed(settled(t, web()), newImage))
		},
		"new-image-in-parallel": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.PodManagementPolicy = v1.ParallelPodManagement
			}))
		},
		"new-image-slowly": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.MinReadySeconds = 30
				set.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(1))
			}))
		},
		"recreate": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RecreateStatefulSetStrategyType}
			}))
		},
		"scale-down-with-claims": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				set.Spec.Replicas = new(int32(1))
				set.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled = v1.DeletePersistentVolumeClaimRetentionPolicyType
			}))
		},
		"stuck-behind-a-broken-pod": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(breakPod(settled(t, web()), "web-1"), newImage))
		},
		"past-a-broken-pod-when-asked": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(breakPod(settled(t, web()), "web-1"), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.UpdateStrategy.RollingUpdate.ReplaceUnreadyAfterSeconds = new(int32(60))
			}))
		},
		"a-hole": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				set.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 1}}}
			}))
		},
		"larger-claims": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(bound(settled(t, web())), func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
				set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
				set.Spec.VolumeClaimTemplates[0].Spec.VolumeAttributesClassName = new("gold")
			}))
		},
		"one-more-claim": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.NewClaimsVolumeClaimUpdatePolicyType}
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates,
					corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "log"}})
			}))
		},
		"paused": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.UpdateStrategy.RollingUpdate.Paused = new(true)
				set.Spec.Replicas = new(int32(4))
			}))
		},
		"the-leader-last": func(t *testing.T) *v1.StatefulSetPlan {
			world := settled(t, web())
			world.Pods[2] = world.Pods[2].DeepCopy()
			world.Pods[2].Labels["role"] = "leader"
			return played(t, proposed(world, func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.PodManagementPolicy = v1.ParallelPodManagement
				set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(2))
				set.Spec.UpdateStrategy.RollingUpdate.Order = &v1.UpdateOrder{First: []v1.OrdinalRange{{First: 0}},
					Last: []metav1.LabelSelector{{MatchLabels: map[string]string{"role": "leader"}}}}
			}))
		},
		"an-override-of-two": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				set.Spec.Replicas = new(int32(4))
				set.Spec.Overrides = []v1.MemberOverride{
					{Name: "big", Ordinals: []v1.OrdinalRange{{First: 0}, {First: 3}}, NodeSelector: map[string]string{"disk": "nvme"}}}
			}))
		},
		"a-member-that-others-are-told-of": func(t *testing.T) *v1.StatefulSetPlan {
			set := web()
			set.Spec.Identity = &v1.MemberIdentity{Env: []string{"REPLICAS"}}
			return played(t, proposed(settled(t, set), func(set *v1.StatefulSet) { set.Spec.Replicas = new(int32(4)) }))
		},
		"an-override-removed": func(t *testing.T) *v1.StatefulSetPlan {
			set := web()
			set.Spec.Overrides = []v1.MemberOverride{
				{Name: "big", Ordinals: []v1.OrdinalRange{{First: 1}}, NodeSelector: map[string]string{"disk": "nvme"}}}
			return played(t, proposed(settled(t, set), func(set *v1.StatefulSet) { set.Spec.Overrides = nil }))
		},
		"replaced": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				for _, pod := range settled(t, web()).Pods {
					if pod.Name == "web-1" {
						set.Status.Replacements = []v1.MemberReplacement{{Ordinal: 1, PodUID: pod.UID}}
					}
				}
			}))
		},
		"gated": func(t *testing.T) *v1.StatefulSetPlan {
			set := web()
			set.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/handed-over"}}
			set.Spec.Disruption = &v1.StatefulSetDisruption{
				Gates: []v1.DisruptionGate{{ConditionType: "example.com/handed-over", TimeoutSeconds: new(int32(60))}}}
			return played(t, proposed(settled(t, set), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.Replicas = new(int32(1))
			}))
		},
		"fewer-by-half": func(t *testing.T) *v1.StatefulSetPlan {
			set := web()
			set.Spec.PodManagementPolicy, set.Spec.Replicas = v1.ParallelPodManagement, new(int32(10))
			set.Spec.ScaleStrategy = &v1.StatefulSetScaleStrategy{MaxUnavailable: new(intstr.FromString("50%"))}
			return played(t, proposed(settled(t, set), func(set *v1.StatefulSet) { set.Spec.Replicas = new(int32(1)) }))
		},
		"past-a-broken-pod-in-parallel": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(breakPod(settled(t, web()), "web-1"), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.PodManagementPolicy = v1.ParallelPodManagement
			}))
		},
		"name-taken": func(t *testing.T) *v1.StatefulSetPlan {
			world := settled(t, web())
			taken := world.Pods[2].DeepCopy()
			taken.OwnerReferences[0].UID, taken.OwnerReferences[0].Name = "other", "other"
			world.Pods[2] = taken
			return played(t, proposed(world, func(*v1.StatefulSet) {}))
		},
		"held": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				newImage(set)
				set.Annotations = map[string]string{v1.HoldAnnotation: "migration"}
			}))
		},
	})
	for name, forecast := range all {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".txt")
			got := text(forecast(t))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("the forecast is\n%s\nwant (%v)\n%s", got, err, want)
			}
		})
	}
}

func TestAForecastChangesNothingAndIsAlwaysTheSame(t *testing.T) {
	world := proposed(settled(t, web()), newImage)
	before := world
	before.Set = world.Set.DeepCopy()
	before.Pods = nil
	for _, pod := range world.Pods {
		before.Pods = append(before.Pods, pod.DeepCopy())
	}
	one := played(t, world)
	if two := played(t, world); !reflect.DeepEqual(one, two) {
		t.Errorf("got %s and then %s for the same world", text(one), text(two))
	}
	if !reflect.DeepEqual(before.Set, world.Set) || !reflect.DeepEqual(before.Pods, world.Pods) {
		t.Error("the forecast has changed the world")
	}
}
