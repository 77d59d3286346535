// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// host is a cluster in memory: it holds what a plan acts on, does what actions
// say, and plays the kubelet when it is told to.
type host struct {
	t         *testing.T
	set       *v1.StatefulSet
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
	now       time.Time
	writes    int
	// refuse makes actions whose text contains a key fail with its value.
	refuse map[string]error
}

func newHost(t *testing.T) *host {
	return &host{
		t: t,
		set: &v1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "set-uid", Generation: 1},
			Spec: v1.StatefulSetSpec{
				ServiceName: "nginx",
				Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"app": "nginx"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "nginx"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1"}}},
				},
			},
		},
		pods:      map[string]*corev1.Pod{},
		claims:    map[string]*corev1.PersistentVolumeClaim{},
		revisions: map[string]*appsv1.ControllerRevision{},
		now:       time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		refuse:    map[string]error{},
	}
}

// configure changes the set as a user would; every setting is key=value.
func (h *host) configure(settings []string) {
	h.t.Helper()
	before := h.set.DeepCopy()
	spec := &h.set.Spec
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		switch key {
		case "replicas":
			spec.Replicas = ptr.To(int32(h.number(value)))
		case "policy":
			spec.PodManagementPolicy = v1.PodManagementPolicyType(value)
		case "image":
			spec.Template.Spec.Containers[0].Image = value
		case "claims":
			spec.VolumeClaimTemplates = nil
			for _, name := range strings.Split(value, ",") {
				spec.VolumeClaimTemplates = append(spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Name: name},
					Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
					}},
				})
			}
		case "strategy":
			spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.StatefulSetUpdateStrategyType(value)}
		case "partition":
			h.rolling().Partition = ptr.To(int32(h.number(value)))
		case "maxUnavailable":
			h.rolling().MaxUnavailable = ptr.To(intstr.Parse(value))
		case "minReadySeconds":
			spec.MinReadySeconds = int32(h.number(value))
		case "start":
			spec.Ordinals = &v1.StatefulSetOrdinals{Start: int32(h.number(value))}
		case "historyLimit":
			spec.RevisionHistoryLimit = ptr.To(int32(h.number(value)))
		case "whenDeleted":
			h.retention().WhenDeleted = v1.PersistentVolumeClaimRetentionPolicyType(value)
		case "whenScaled":
			h.retention().WhenScaled = v1.PersistentVolumeClaimRetentionPolicyType(value)
		default:
			h.t.Fatalf("unknown setting %q", setting)
		}
	}
	v1.SetObjectDefaults_StatefulSet(h.set)
	if fmt.Sprint(before.Spec) != fmt.Sprint(h.set.Spec) {
		h.set.Generation++
	}
}

func (h *host) rolling() *v1.RollingUpdateStatefulSetStrategy {
	strategy := &h.set.Spec.UpdateStrategy
	if strategy.RollingUpdate == nil {
		strategy.Type = v1.RollingUpdateStatefulSetStrategyType
		strategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{}
	}
	return strategy.RollingUpdate
}

func (h *host) retention() *v1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if h.set.Spec.PersistentVolumeClaimRetentionPolicy == nil {
		h.set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	return h.set.Spec.PersistentVolumeClaimRetentionPolicy
}

func (h *host) number(text string) int {
	h.t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		h.t.Fatalf("reading %q as a number: %v", text, err)
	}
	return n
}

func (h *host) world() World {
	return World{
		Set: h.set, Now: h.now,
		Pods:      slices.Collect(maps.Values(h.pods)),
		Claims:    slices.Collect(maps.Values(h.claims)),
		Revisions: slices.Collect(maps.Values(h.revisions)),
	}
}

// look computes a plan, carries it out as the executor does, stores the status,
// and reports which actions were carried out and which failed.
func (h *host) look() (p Plan, done []Action, failed []Failure) {
	p = Compute(h.world())
	for _, step := range p.Steps {
		for _, action := range step {
			if err := h.do(action); err != nil {
				failed = append(failed, Failure{Action: action, Err: err})
			} else {
				done = append(done, action)
			}
		}
		if len(failed) > 0 {
			break
		}
	}
	h.set.Status = WithFailures(p.Status, failed, h.now)
	return p, done, failed
}

func (h *host) do(action Action) error {
	for text, err := range h.refuse {
		if strings.Contains(action.String(), text) {
			return err
		}
	}
	switch a := action.(type) {
	case CreateRevision:
		put(h, h.revisions, a.Revision.DeepCopy())
	case RaiseRevision:
		h.hit(h.revisions[a.Revision.Name], a.Revision).(*appsv1.ControllerRevision).Revision = a.To
	case AdoptRevision:
		h.hit(h.revisions[a.Revision.Name], a.Revision).SetOwnerReferences([]metav1.OwnerReference{identity.Owner(h.set)})
	case DeleteRevision:
		h.hit(h.revisions[a.Revision.Name], a.Revision)
		delete(h.revisions, a.Revision.Name)
	case CreateMember:
		h.create(a.Claims)
		pod := a.Pod.DeepCopy()
		pod.Status.Phase = corev1.PodPending
		put(h, h.pods, pod)
	case CreateClaims:
		h.create(a.Claims)
	case SetClaimOwners:
		h.hit(h.claims[a.Claim.Name], a.Claim).SetOwnerReferences(a.Owners)
	case RepairPod:
		maps.Copy(h.hit(h.pods[a.Pod.Name], a.Pod).GetLabels(), a.Labels)
	case DeletePod:
		h.hit(h.pods[a.Pod.Name], a.Pod).SetDeletionTimestamp(&metav1.Time{Time: h.now})
	case AdoptPod:
		h.hit(h.pods[a.Pod.Name], a.Pod).SetOwnerReferences([]metav1.OwnerReference{identity.Owner(h.set)})
	case ReleasePod:
		h.hit(h.pods[a.Pod.Name], a.Pod).SetOwnerReferences(nil)
	default:
		h.t.Fatalf("the host cannot do %T", action)
	}
	return nil
}

func (h *host) create(claims []*corev1.PersistentVolumeClaim) {
	for _, claim := range claims {
		put(h, h.claims, claim.DeepCopy())
	}
}

// put stores a new object and fails the test if there is one of its name: nothing
// in a plan may ever create a second one.
func put[T metav1.Object](h *host, store map[string]T, object T) {
	h.t.Helper()
	if _, exists := store[object.GetName()]; exists {
		h.t.Fatalf("the plan creates %T %s a second time", object, object.GetName())
	}
	h.writes++
	object.SetUID(types.UID(fmt.Sprintf("uid-%d", h.writes)))
	object.SetResourceVersion(strconv.Itoa(h.writes))
	object.SetCreationTimestamp(metav1.Time{Time: h.now})
	store[object.GetName()] = object
}

// hit checks that an action names the object as it is, and moves its version on.
func (h *host) hit(object metav1.Object, at Target) metav1.Object {
	h.t.Helper()
	if got := target(object); got != at {
		h.t.Fatalf("the plan acts on %+v, the host has %+v", at, got)
	}
	h.touch(object)
	return object
}

func (h *host) touch(object metav1.Object) {
	h.writes++
	object.SetResourceVersion(strconv.Itoa(h.writes))
}

// ready makes a pod run, ready or not.
func (h *host) ready(name string, ready corev1.ConditionStatus) {
	pod := h.pod(name)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Time{Time: h.now}}}
	h.touch(pod)
}

func (h *host) pod(name string) *corev1.Pod {
	h.t.Helper()
	pod, ok := h.pods[name]
	if !ok {
		h.t.Fatalf("there is no pod %s", name)
	}
	return pod
}
