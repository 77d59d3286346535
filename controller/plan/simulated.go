// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// Simulated is a cluster in memory in which actions can be carried out. It holds, by name, what one
// set can see of a cluster. Objects in it may be those of a cache, so they are never changed, only
// replaced by changed copies, which share with them what has not changed.
type Simulated struct {
	Set       *v1.StatefulSet
	Pods      map[string]*corev1.Pod
	Claims    map[string]*corev1.PersistentVolumeClaim
	Revisions map[string]*appsv1.ControllerRevision
	Objects   map[identity.ObjectKey]*Object
	// Now is the time of the actions.
	Now time.Time
	// Write is called before each write. It returns a number that is higher than those of all
	// earlier writes, and that becomes the resource version.
	Write func() (int, error)
	// Trim returns the part of a created pod to keep; it may share data with the pod.
	Trim func(*corev1.Pod) *corev1.Pod
}

// Do carries out an action like a cluster with the real executor: an existing object is not created
// again, and only the exact version that was decided on is changed. Its errors are those of an API
// server and of Write.
func (s *Simulated) Do(act action.Action) error { //nolint:gocyclo // a case for each kind of action
	owner := identity.Owner(s.Set)
	switch a := act.(type) {
	case action.CreateMember:
		if err := s.createClaims(a.Claims); err != nil {
			return err
		}
		pod := s.Trim(a.Pod)
		pod.Status.Phase = corev1.PodPending
		return put(s, s.Pods, pod)
	case action.CreateClaims:
		return s.createClaims(a.Claims)
	case action.SetClaimOwners:
		return hit(s, s.Claims, a.Claim, func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = a.Owners })
	case action.UpdateClaim:
		return hit(s, s.Claims, a.Claim, a.Apply)
	case action.MarkClaim:
		return s.markClaim(a)
	case action.DeleteClaim:
		return s.deleteClaim(a)
	case action.CreateObject:
		return s.createObject(a)
	case action.ApplyObject:
		return s.applyObject(a)
	case action.MarkObject:
		return s.markObject(a)
	case action.SetObjectOwners:
		return s.changeObject(a.Kind, a.At, func(object *Object) { a.Apply(object) })
	case action.DeleteObject:
		return s.deleteObject(a)
	case action.RepairPod:
		return hit(s, s.Pods, a.Pod, func(pod *corev1.Pod) {
			pod.Labels = action.Merged(pod.Labels, a.Labels)
		})
	case action.PatchPod:
		return hit(s, s.Pods, a.Pod, a.Apply)
	case action.SetPodConditions:
		return hit(s, s.Pods, a.Pod, a.Apply)
	case action.DeletePod:
		return hit(s, s.Pods, a.Pod, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: s.Now} })
	case action.UpdateInPlace:
		return hit(s, s.Pods, a.Pod, a.Apply)
	case action.ResizePod:
		return hit(s, s.Pods, a.Pod, a.Apply)
	case action.EndInPlace:
		return hit(s, s.Pods, a.Pod, a.Apply)
	case action.AdoptPod:
		return hit(s, s.Pods, a.Pod, func(pod *corev1.Pod) { pod.OwnerReferences = append(slices.Clip(pod.OwnerReferences), owner) })
	case action.ReleasePod:
		return hit(s, s.Pods, a.Pod, func(pod *corev1.Pod) {
			pod.OwnerReferences = slices.DeleteFunc(slices.Clone(pod.OwnerReferences),
				func(ref metav1.OwnerReference) bool { return ref.UID == s.Set.UID })
		})
	case action.CreateRevision:
		return s.createRevision(a.Revision)
	case action.CreateAnchor:
		return s.createRevision(a.Anchor)
	case action.OwnAnchor:
		return hit(s, s.Revisions, a.Anchor, func(r *appsv1.ControllerRevision) {
			r.OwnerReferences = append(slices.Clip(r.OwnerReferences), identity.AnchorOwner(s.Set))
		})
	case action.RaiseRevision:
		return hit(s, s.Revisions, a.Revision, func(r *appsv1.ControllerRevision) { r.Revision = a.To })
	case action.AdoptRevision:
		return hit(s, s.Revisions, a.Revision, func(r *appsv1.ControllerRevision) {
			r.OwnerReferences = append(slices.Clip(r.OwnerReferences), owner)
		})
	case action.DeleteRevision:
		return s.deleteRevision(a.Revision)
	default:
		return fmt.Errorf("no rule to simulate %T", act)
	}
}

func (s *Simulated) createClaims(claims []*corev1.PersistentVolumeClaim) error {
	for _, claim := range claims {
		made := *claim
		if err := put(s, s.Claims, &made); err != nil {
			return err
		}
	}
	return nil
}

// errNotDue is why the executor does not delete what is not due by the clock of the host cluster.
var errNotDue = errors.New("not due by the clock of the cluster")

// markClaim sets annotations of a claim, and records when a date was set.
func (s *Simulated) markClaim(a action.MarkClaim) error {
	return hit(s, s.Claims, a.Claim, func(claim *corev1.PersistentVolumeClaim) {
		a.Apply(claim)
		if at, dates := a.Annotations[v1.RetiredAtAnnotation]; dates {
			claim.ManagedFields = nil
			if at != nil {
				claim.ManagedFields = retiredFields(s.Now)
			}
		}
	})
}

// deleteClaim deletes a claim, unless the claim is not due by the clock of the cluster, or a pod
// has the name of its member, regardless of the controller of the pod: the executor checks that
// with the host cluster first.
func (s *Simulated) deleteClaim(a action.DeleteClaim) error {
	if s.Now.Before(a.Due) {
		return apierrors.NewConflict(schema.GroupResource{}, a.Claim.Name, errNotDue)
	}
	if pod := identity.PodName(s.Set.Name, a.Ordinal); s.Pods[pod] != nil {
		return apierrors.NewConflict(schema.GroupResource{}, a.Claim.Name, fmt.Errorf("pod %s exists", pod))
	}
	return hit(s, s.Claims, a.Claim, func(claim *corev1.PersistentVolumeClaim) { claim.DeletionTimestamp = &metav1.Time{Time: s.Now} })
}

func (s *Simulated) createRevision(revision *appsv1.ControllerRevision) error {
	made := *revision
	return put(s, s.Revisions, &made)
}

func (s *Simulated) deleteRevision(at action.Target) error {
	err := hit(s, s.Revisions, at, func(*appsv1.ControllerRevision) {})
	if err == nil {
		delete(s.Revisions, at.Name)
	}
	return err
}

// put stores a new object, unless an object of its name exists.
func put[T metav1.Object](s *Simulated, store map[string]T, object T) error {
	if _, exists := store[object.GetName()]; exists {
		return apierrors.NewAlreadyExists(schema.GroupResource{}, object.GetName())
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	object.SetUID(types.UID(fmt.Sprintf("uid-%d", version)))
	object.SetResourceVersion(strconv.Itoa(version))
	object.SetCreationTimestamp(metav1.Time{Time: s.Now})
	store[object.GetName()] = object
	return nil
}

// hit changes the object that an action names, if its version is still exactly that of the action.
func hit[T any, P interface {
	*T
	metav1.Object
}](s *Simulated, store map[string]P, at action.Target, do func(P)) error {
	stored, exists := store[at.Name]
	switch {
	case !exists:
		return apierrors.NewNotFound(schema.GroupResource{}, at.Name)
	case action.Exact(stored) != at:
		return apierrors.NewConflict(schema.GroupResource{}, at.Name, fmt.Errorf("the cluster has %+v, not %+v", action.Exact(stored), at))
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	changed := P(new(T))
	*changed = *stored
	changed.SetResourceVersion(strconv.Itoa(version))
	do(changed)
	store[at.Name] = changed
	return nil
}

// Restart restarts the containers of a pod that is updated in place, like an optimistic node. It
// reports false if there are none to restart.
func (s *Simulated) Restart(name string) bool {
	stored := s.Pods[name]
	if !isRestarting(stored) {
		return false
	}
	awaited := noteOf(stored).unrestarted(stored)
	if len(awaited) == 0 && isObserved(stored) {
		return false
	}
	pod := *stored
	pod.Status.ObservedGeneration = pod.Generation
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = slices.Clone(pod.Status.ContainerStatuses),
		slices.Clone(pod.Status.InitContainerStatuses)
	for _, container := range awaited {
		anew := corev1.ContainerStatus{Name: container, ContainerID: fmt.Sprintf("restarted://%s/%d", container, pod.Generation)}
		if at := slices.IndexFunc(pod.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container }); at >= 0 {
			pod.Status.InitContainerStatuses[at] = anew
			continue
		}
		pod.Status.ContainerStatuses = append(
			slices.DeleteFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container }), anew)
	}
	s.Pods[name] = &pod
	return true
}

// Resize applies the resources of containers that are to be resized, like an optimistic node. It
// reports false if there are none, or if the node has reported that it cannot resize them.
func (s *Simulated) Resize(name string) bool {
	stored := s.Pods[name]
	if !isRestarting(stored) {
		return false
	}
	note := noteOf(stored)
	if !note.isBeingResized(stored) || note.isInfeasible(stored) {
		return false
	}
	pod := *stored
	pod.Status.Conditions = slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
	})
	pod.Status.ContainerStatuses = resizedStatuses(pod.Status.ContainerStatuses, pod.Spec.Containers)
	pod.Status.InitContainerStatuses = resizedStatuses(pod.Status.InitContainerStatuses, pod.Spec.InitContainers)
	if len(note.unrestarted(stored)) == 0 {
		pod.Status.ObservedGeneration = pod.Generation
	}
	s.Pods[name] = &pod
	return true
}

// resizedStatuses are the statuses of containers after they got the resources in their spec.
func resizedStatuses(statuses []corev1.ContainerStatus, containers []corev1.Container) []corev1.ContainerStatus {
	statuses = slices.Clone(statuses)
	for i := range containers {
		at := slices.IndexFunc(statuses, func(c corev1.ContainerStatus) bool { return c.Name == containers[i].Name })
		if at < 0 {
			at = len(statuses)
			statuses = append(statuses, corev1.ContainerStatus{Name: containers[i].Name})
		}
		statuses[at].Resources = containers[i].Resources.DeepCopy()
	}
	return statuses
}

// createObject stores an object, unless an object of its kind and name exists.
func (s *Simulated) createObject(a action.CreateObject) error {
	key := action.ObjectKey(a.Object)
	if s.Objects[key] != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{}, a.Object.GetName())
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	made := s.object(a.Object, action.Target{Name: a.Object.GetName(), UID: types.UID(fmt.Sprintf("uid-%d", version))}, version)
	made.OwnerReferences = a.Object.GetOwnerReferences()
	s.Objects[key] = made
	return nil
}

// applyObject changes an existing object, if its version is still exactly the one that was decided
// on.
func (s *Simulated) applyObject(a action.ApplyObject) error {
	key := action.ObjectKey(a.Object)
	stored := s.Objects[key]
	if stored == nil || action.Exact(stored) != a.At {
		return apierrors.NewConflict(schema.GroupResource{}, a.At.Name,
			fmt.Errorf("the cluster has another %s than %+v", action.ObjectText(a.Object), a.At))
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	changed := s.object(a.Object, a.At, version)
	changed.OwnerReferences = slices.Concat(ownersExceptAnchor(stored, s.Set.Name), a.Object.GetOwnerReferences())
	if made, has := stored.Annotations[v1.GeneratedAnnotation]; has { // an apply does not contain it
		changed.Annotations = action.Merged(changed.Annotations, map[string]string{v1.GeneratedAnnotation: made})
	}
	s.Objects[key] = changed
	return nil
}

func (s *Simulated) object(made *unstructured.Unstructured, at action.Target, version int) *Object {
	object := &Object{ObjectMeta: metav1.ObjectMeta{
		Name: at.Name, UID: at.UID, ResourceVersion: strconv.Itoa(version), Labels: made.GetLabels(), Annotations: made.GetAnnotations()}}
	for i := range s.Set.Spec.ObjectTemplates {
		if template := &s.Set.Spec.ObjectTemplates[i]; template.Name == made.GetLabels()[v1.ObjectTemplateLabel] {
			object.Outputs = AssumedOutputs(template)
		}
	}
	return object
}

// markObject sets or removes the date on an object.
func (s *Simulated) markObject(a action.MarkObject) error {
	return s.changeObject(a.Kind, a.At, func(object *Object) {
		object.Annotations, object.ManagedFields = maps.Clone(object.Annotations), nil
		delete(object.Annotations, v1.RetiredAtAnnotation)
		if note := a.Note(); note != nil {
			object.Annotations = action.Merged(object.Annotations, map[string]string{v1.RetiredAtAnnotation: *note})
			object.ManagedFields = retiredFields(s.Now)
		}
	})
}

// changeObject changes the metadata of an object, if its version is still exactly the one that was
// decided on.
func (s *Simulated) changeObject(kind schema.GroupVersionKind, at action.Target, do func(*Object)) error {
	key := identity.ObjectKey{Group: kind.Group, Kind: kind.Kind, Name: at.Name}
	stored, err := s.exactObject(key, at)
	if err != nil {
		return err
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	changed := *stored
	changed.ResourceVersion = strconv.Itoa(version)
	do(&changed)
	s.Objects[key] = &changed
	return nil
}

// deleteObject deletes an object, unless the object is not due by the clock of the cluster, or a
// pod exists that may use it, regardless of the controller of the pod: the executor checks that
// with the host cluster first.
func (s *Simulated) deleteObject(a action.DeleteObject) error {
	key := identity.ObjectKey{Group: a.Kind.Group, Kind: a.Kind.Kind, Name: a.At.Name}
	for name, pod := range s.Pods {
		if (a.Ordinal == setOrdinal || name == identity.PodName(s.Set.Name, a.Ordinal)) && a.MayBeUsedBy(pod) {
			return apierrors.NewConflict(schema.GroupResource{}, a.At.Name, fmt.Errorf("pod %s exists", name))
		}
	}
	if s.Now.Before(a.Due) {
		return apierrors.NewConflict(schema.GroupResource{}, a.At.Name, errNotDue)
	}
	if _, err := s.exactObject(key, a.At); err != nil {
		return err
	}
	if _, err := s.Write(); err != nil {
		return err
	}
	delete(s.Objects, key)
	return nil
}

func (s *Simulated) exactObject(key identity.ObjectKey, at action.Target) (*Object, error) {
	stored := s.Objects[key]
	if stored == nil || action.Exact(stored) != at {
		return nil, apierrors.NewConflict(schema.GroupResource{}, at.Name, fmt.Errorf("the cluster has another %s than %+v", key, at))
	}
	return stored, nil
}
