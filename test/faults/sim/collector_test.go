// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/sim/model"
)

// collector is the garbage collector of the cluster, and the controller that lets
// go of claims nobody uses.
type collector struct {
	world *world
	// next is when the collector may act again.
	next time.Time
}

// pause is how long the collector takes from one deed to the next.
const pause = 100 * time.Millisecond

func (g *collector) dues() []time.Time {
	if len(g.deeds()) == 0 {
		return nil
	}
	return []time.Time{g.next}
}

func (g *collector) choices() []choice {
	if g.next.After(time.Now()) {
		return nil
	}
	var all []choice
	for _, deed := range g.deeds() {
		all = append(all, choice{3, func() {
			g.next = time.Now().Add(g.world.delay(pause))
			deed()
		}})
	}
	return all
}

// deeds are all things there are to do for it.
func (g *collector) deeds() []func() {
	deeds := g.orphanings()
	for _, resource := range []schema.GroupVersionResource{model.Pods, model.Claims, model.Revisions, model.ConfigMaps} {
		for _, object := range g.world.host.List(resource, "") {
			if dangling, solid := g.owners(object); dangling > 0 && object.GetDeletionTimestamp() == nil {
				deeds = append(deeds, func() { g.collect(resource, object, solid) })
			}
		}
	}
	for _, object := range g.world.host.List(model.Claims, "") {
		if object.GetDeletionTimestamp() != nil && !g.inUse(object.GetName()) {
			deeds = append(deeds, func() { g.dropFinalizer(model.Claims, object, model.ProtectsClaim) })
		}
	}
	return deeds
}

// owners counts the owners that are no more, and those that are.
func (g *collector) owners(object model.Object) (dangling, solid int) {
	for _, owner := range object.GetOwnerReferences() {
		if g.exists(object.GetNamespace(), owner) {
			solid++
		} else {
			dangling++
		}
	}
	return dangling, solid
}

func (g *collector) exists(namespace string, owner metav1.OwnerReference) bool {
	resource := model.Pods
	switch owner.Kind {
	case v1.Kind:
		resource = model.Sets
	case "ControllerRevision":
		resource = model.Revisions
	}
	object, err := g.world.server(resource).Get(resource, namespace, owner.Name)
	return err == nil && object.GetUID() == owner.UID
}

// collect deletes an object that has no owner left, and takes the former owners off
// one that has.
func (g *collector) collect(resource schema.GroupVersionResource, object model.Object, solid int) {
	if solid == 0 {
		uid := object.GetUID()
		options := metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: new(metav1.DeletePropagationBackground)}
		must(g.world.host.Delete(resource, object.GetNamespace(), object.GetName(), options))
		return
	}
	g.update(resource, object, func(object model.Object) {
		object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
			return !g.exists(object.GetNamespace(), owner)
		}))
	})
}

// orphanings are what is to do about sets that leave behind what they have.
func (g *collector) orphanings() []func() {
	var deeds []func()
	for _, set := range g.world.sets.List(model.Sets, "") {
		if !slices.Contains(set.GetFinalizers(), metav1.FinalizerOrphanDependents) {
			continue
		}
		for _, resource := range []schema.GroupVersionResource{model.Pods, model.Claims, model.Revisions, model.ConfigMaps} {
			for _, object := range g.world.host.List(resource, set.GetNamespace()) {
				if slices.ContainsFunc(object.GetOwnerReferences(), ownedBy(set.GetUID())) {
					deeds = append(deeds, func() {
						g.update(resource, object, func(object model.Object) {
							object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), ownedBy(set.GetUID())))
						})
					})
				}
			}
		}
		if len(deeds) == 0 {
			deeds = append(deeds, func() { g.dropFinalizer(model.Sets, set, metav1.FinalizerOrphanDependents) })
		}
	}
	return deeds
}

func ownedBy(uid types.UID) func(metav1.OwnerReference) bool {
	return func(owner metav1.OwnerReference) bool { return owner.UID == uid }
}

func (g *collector) inUse(claim string) bool {
	return slices.ContainsFunc(g.world.host.List(model.Pods, ""), func(object model.Object) bool {
		pod := object.(*corev1.Pod)
		if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			return false
		}
		return slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
			return volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == claim
		})
	})
}

func (g *collector) dropFinalizer(resource schema.GroupVersionResource, object model.Object, finalizer string) {
	g.update(resource, object, func(object model.Object) {
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

func (g *collector) update(resource schema.GroupVersionResource, object model.Object, change func(model.Object)) {
	must(g.world.server(resource).Update(resource, object.GetNamespace(), object.GetName(), "",
		func(object model.Object) (model.Object, error) {
			change(object)
			return object, nil
		}))
}

// must panics if something failed that cannot: nobody acts between a look and the deed.
func must(_ model.Object, err error) {
	if err != nil {
		panic("the cluster's own hands fail: " + err.Error())
	}
}
