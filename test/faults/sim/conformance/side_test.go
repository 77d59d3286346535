//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"statefulset.dev/test/faults/sim/model"
)

const (
	namespace = "default"
	// selected is the label that the watch selects by, with the seed as value.
	selected = "conformance"
	holds    = "example.com/hold"
)

// side is one of the two servers, and what was learned from it.
type side struct {
	client kubernetes.Interface
	seed   string
	// anchor is an object that owns others.
	anchor metav1.OwnerReference
	// known are the last two states of each object, the latest first.
	known map[string][]known
}

type known struct {
	uid     types.UID
	version string
}

// do carries out an operation and returns what can be compared of the answer.
func (s *side) do(ctx context.Context, o operation) string {
	object, err := s.send(ctx, o)
	if err != nil {
		return problem(err)
	}
	if object == nil {
		return "done"
	}
	return s.describe(o, object)
}

func problem(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "no answer: " + err.Error()
	}
	return fmt.Sprintf("%d %s", status.Status().Code, status.Status().Reason)
}

func (s *side) send(ctx context.Context, o operation) (metav1.Object, error) {
	switch o.verb {
	case "create":
		return s.create(ctx, o)
	case "get":
		return s.get(ctx, o)
	case "patch":
		return s.patch(ctx, o)
	case "status":
		pod := &corev1.Pod{ObjectMeta: s.meta(o), Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		pod.UID, pod.ResourceVersion = s.uid(o), s.version(o)
		pod.Spec = podSpec("ignored")
		return object(s.client.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{}))
	case "update":
		lease := &coordinationv1.Lease{ObjectMeta: s.meta(o), Spec: coordinationv1.LeaseSpec{HolderIdentity: &o.app}}
		lease.UID, lease.ResourceVersion = s.uid(o), s.version(o)
		return object(s.client.CoordinationV1().Leases(namespace).Update(ctx, lease, metav1.UpdateOptions{}))
	case "delete":
		return nil, s.remove(ctx, o)
	default:
		return nil, s.list(ctx)
	}
}

func object[T metav1.Object](o T, err error) (metav1.Object, error) { return o, err }

func (s *side) meta(o operation) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: o.name, Labels: map[string]string{"app": o.app}}
	if o.shown {
		meta.Labels[selected] = s.seed
	}
	if o.held {
		meta.Finalizers = []string{holds}
	}
	return meta
}

func podSpec(node string) corev1.PodSpec {
	return corev1.PodSpec{NodeName: node, SchedulerName: "nobody", AutomountServiceAccountToken: new(bool),
		Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}}
}

func (s *side) create(ctx context.Context, o operation) (metav1.Object, error) {
	switch o.resource {
	case model.Pods:
		return object(
			s.client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: s.meta(o), Spec: podSpec(o.node)}, metav1.CreateOptions{}))
	case model.Claims:
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: s.meta(o), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new(string),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
		return object(s.client.CoreV1().PersistentVolumeClaims(namespace).Create(ctx, claim, metav1.CreateOptions{}))
	case model.Leases:
		return object(
			s.client.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{ObjectMeta: s.meta(o)}, metav1.CreateOptions{}))
	default:
		revision := &appsv1.ControllerRevision{ObjectMeta: s.meta(o), Data: runtime.RawExtension{Raw: []byte(`{}`)}, Revision: 1}
		return object(s.client.AppsV1().ControllerRevisions(namespace).Create(ctx, revision, metav1.CreateOptions{}))
	}
}

func (s *side) get(ctx context.Context, o operation) (metav1.Object, error) {
	switch o.resource {
	case model.Pods:
		return object(s.client.CoreV1().Pods(namespace).Get(ctx, o.name, metav1.GetOptions{}))
	case model.Claims:
		return object(s.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, o.name, metav1.GetOptions{}))
	case model.Leases:
		return object(s.client.CoordinationV1().Leases(namespace).Get(ctx, o.name, metav1.GetOptions{}))
	default:
		return object(s.client.AppsV1().ControllerRevisions(namespace).Get(ctx, o.name, metav1.GetOptions{}))
	}
}

func (s *side) patch(ctx context.Context, o operation) (metav1.Object, error) {
	patchType, body := s.body(o)
	switch o.resource {
	case model.Pods:
		return object(s.client.CoreV1().Pods(namespace).Patch(ctx, o.name, patchType, body, metav1.PatchOptions{}))
	case model.Leases:
		return object(s.client.CoordinationV1().Leases(namespace).Patch(ctx, o.name, patchType, body, metav1.PatchOptions{}))
	default:
		return object(s.client.AppsV1().ControllerRevisions(namespace).Patch(ctx, o.name, patchType, body, metav1.PatchOptions{}))
	}
}

// body is the patch of an operation: those that the controller sends, and the ones
// that finish what a finalizer holds.
func (s *side) body(o operation) (types.PatchType, []byte) {
	meta, patchType := map[string]any{}, types.StrategicMergePatchType
	if uid := s.uid(o); uid != "" {
		meta["uid"] = uid
	}
	if version := s.version(o); version != "" {
		meta["resourceVersion"] = version
	}
	body := map[string]any{"metadata": meta}
	switch o.how {
	case "labels":
		meta["labels"] = map[string]any{"app": o.app, selected: map[bool]any{true: s.seed}[o.shown]}
	case "owners":
		patchType = types.MergePatchType
		meta["ownerReferences"] = []metav1.OwnerReference{}
		if o.owned {
			meta["ownerReferences"] = []metav1.OwnerReference{s.anchor}
		}
	case "add owner":
		meta["ownerReferences"] = []metav1.OwnerReference{s.anchor}
	case "drop owner":
		meta["ownerReferences"] = []map[string]any{{"$patch": "delete", "uid": s.anchor.UID}}
	case "finalizers":
		patchType = types.MergePatchType
		meta["finalizers"] = []string{}
	case "revision":
		body["revision"] = 7
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return patchType, encoded
}

func (s *side) remove(ctx context.Context, o operation) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{}}
	if uid := s.uid(o); uid != "" {
		options.Preconditions.UID = &uid
	}
	if version := s.version(o); version != "" {
		options.Preconditions.ResourceVersion = &version
	}
	if o.grace >= 0 {
		options.GracePeriodSeconds = &o.grace
	}
	switch o.resource {
	case model.Pods:
		return s.client.CoreV1().Pods(namespace).Delete(ctx, o.name, options)
	case model.Leases:
		return s.client.CoordinationV1().Leases(namespace).Delete(ctx, o.name, options)
	default:
		return s.client.AppsV1().ControllerRevisions(namespace).Delete(ctx, o.name, options)
	}
}

// list is compared by its words, which it returns as an error.
func (s *side) list(ctx context.Context) error {
	pods, err := s.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selected + "=" + s.seed})
	if err != nil {
		return err
	}
	var names []string
	for i := range pods.Items {
		names = append(names, pods.Items[i].Name+" "+pods.Items[i].Labels["app"])
	}
	return fmt.Errorf("list of %v", names)
}

func (s *side) uid(o operation) types.UID {
	states := s.known[o.resource.Resource+o.name]
	switch {
	case o.uid == "wrong":
		return "11111111-1111-1111-1111-111111111111"
	case o.uid == "current" && len(states) > 0:
		return states[0].uid
	case o.uid == "former" && len(states) > 1:
		return states[1].uid
	default:
		return ""
	}
}

func (s *side) version(o operation) string {
	states := s.known[o.resource.Resource+o.name]
	switch {
	case o.version == "current" && len(states) > 0:
		return states[0].version
	case o.version == "former" && len(states) > 1:
		return states[1].version
	default:
		return ""
	}
}

// describe tells what an object is like, and notes its UID and version.
func (s *side) describe(o operation, object metav1.Object) string {
	key := o.resource.Resource + o.name
	before := s.known[key]
	now := known{object.GetUID(), object.GetResourceVersion()}
	news := len(before) == 0 || before[0] != now
	another := len(before) == 0 || before[0].uid != now.uid
	if news {
		s.known[key] = append([]known{now}, before[:min(len(before), 1)]...)
	}
	if o.resource == model.Claims {
		// Somebody writes to new claims.
		news = true
	}
	return fmt.Sprintf("%s, changed %t, another %t", words(object), news, another)
}

// words are what can be compared of an object.
func words(object metav1.Object) string {
	text := fmt.Sprintf("%s, labels %v, finalizers %v, %d owners", object.GetName(), sorted(object.GetLabels()), object.GetFinalizers(),
		len(object.GetOwnerReferences()))
	if object.GetDeletionTimestamp() != nil {
		text += fmt.Sprintf(", going in %d seconds", *object.GetDeletionGracePeriodSeconds())
	}
	switch o := object.(type) {
	case *corev1.Pod:
		text += fmt.Sprintf(", phase %s, node %q", o.Status.Phase, o.Spec.NodeName)
	case *appsv1.ControllerRevision:
		text += fmt.Sprintf(", revision %d", o.Revision)
	}
	return text
}

func sorted(labels map[string]string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, key+"="+labels[key])
	}
	return all
}
