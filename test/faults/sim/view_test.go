// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// view is what one replica can know, told from what was sent to it and not from
// what it says: the objects that were delivered, and the answers to its own writes.
type view struct {
	objects map[schema.GroupVersionResource]map[string]model.Object
	// versions are how far each resource was delivered, zero before its first list.
	versions map[schema.GroupVersionResource]int64
	// listed is a first list of which the end has not been delivered yet.
	listed map[schema.GroupVersionResource]map[string]model.Object
	// own is the last answer to a write of each object.
	own map[written]ownWrite
	// recent are the deliveries and answers since the replica last waited for nothing,
	// the oldest first: a decision may have been made before any of them.
	recent []lesson
	// removing are the pods that it has told to go since then.
	removing map[types.UID]bool
	// read is what it has read past its caches since it last waited for nothing, nil for
	// what was not there, and what has names of objects and is not watched.
	read map[written]model.Object
}

// lesson is something that a replica has learned, and what it knew before.
type lesson struct {
	written
	// answer is true for the answer to a write, and not the delivery of an object.
	answer bool
	object model.Object
	own    ownWrite
}

type written struct {
	resource schema.GroupVersionResource
	name     string
}

// ownWrite is what the server answered to a write: the new state of the object, or
// that it was told to go.
type ownWrite struct {
	object  model.Object
	version int64
	removed types.UID
}

func newView() *view {
	return &view{
		objects: map[schema.GroupVersionResource]map[string]model.Object{}, versions: map[schema.GroupVersionResource]int64{},
		listed: map[schema.GroupVersionResource]map[string]model.Object{}, own: map[written]ownWrite{}, removing: map[types.UID]bool{},
		read: map[written]model.Object{},
	}
}

// deliver notes an event.
func (v *view) deliver(resource schema.GroupVersionResource, event watch.Event, beginning bool) {
	object := event.Object.(model.Object)
	switch {
	case event.Type == watch.Bookmark:
		if object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			v.replace(resource, v.listed[resource], versionOf(object))
			delete(v.listed, resource)
		}
		v.versions[resource] = max(v.versions[resource], versionOf(object))
	case beginning:
		if v.listed[resource] == nil {
			v.listed[resource] = map[string]model.Object{}
		}
		v.listed[resource][object.GetName()] = object
	case event.Type == watch.Deleted:
		v.learn(resource, object.GetName(), nil)
		v.outdate(written{resource, object.GetName()}, versionOf(object))
		v.versions[resource] = versionOf(object)
	default:
		v.learn(resource, object.GetName(), object)
		v.versions[resource] = versionOf(object)
	}
}

// replace notes a list.
func (v *view) replace(resource schema.GroupVersionResource, objects map[string]model.Object, version int64) {
	for name := range v.objects[resource] {
		if objects[name] == nil {
			v.learn(resource, name, nil)
		}
	}
	for name, object := range objects {
		v.learn(resource, name, object)
	}
	v.versions[resource] = version
}

// outdate forgets what was read of an object before a version with which it ceased to be watched: it is
// gone, or lacks its label.
func (v *view) outdate(of written, version int64) {
	if read := v.read[of]; read != nil && versionOf(read) < version {
		delete(v.read, of)
	}
}

func (v *view) learn(resource schema.GroupVersionResource, name string, object model.Object) {
	if v.objects[resource] == nil {
		v.objects[resource] = map[string]model.Object{}
	}
	v.recent = append(v.recent, lesson{written: written{resource, name}, object: v.objects[resource][name]})
	if object == nil {
		delete(v.objects[resource], name)
	} else {
		v.objects[resource][name] = object
	}
}

// answered notes the answer to a write.
func (v *view) answered(of written, own ownWrite) {
	v.recent = append(v.recent, lesson{written: of, answer: true, own: v.own[of]})
	v.own[of] = own
	delete(v.read, of)
}

// settled forgets what a decision that is still to be made cannot have missed. What has the name of an
// object, and is not watched, is remembered: it is read now and then.
func (v *view) settled() {
	v.recent, v.removing = nil, map[types.UID]bool{}
	maps.DeleteFunc(v.read, func(of written, object model.Object) bool {
		return of.resource != model.ConfigMaps || object == nil || object.GetLabels()[v1.ObjectSetLabel] != ""
	})
}

// set is the set as it was delivered last, nil for none.
func (v *view) set() *v1.StatefulSet {
	set, _ := v.objects[model.Sets][scenarios.Name].(*v1.StatefulSet)
	return set
}

// scenes are all that a decision under way may have been based on, the latest first.
func (v *view) scenes() []scene {
	objects, own := map[schema.GroupVersionResource]map[string]model.Object{}, maps.Clone(v.own)
	for resource, all := range v.objects {
		objects[resource] = maps.Clone(all)
	}
	scenes := []scene{v.with(objects, own)}
	for _, l := range slices.Backward(v.recent) {
		switch {
		case l.answer:
			own[l.written] = l.own
		case l.object == nil:
			delete(objects[l.resource], l.name)
		default:
			objects[l.resource][l.name] = l.object
		}
		scenes = append(scenes, v.with(objects, own))
	}
	return scenes
}

// with adds to what was delivered what the replica knows of its own writes, and what
// it has read.
func (v *view) with(objects map[schema.GroupVersionResource]map[string]model.Object, own map[written]ownWrite) scene {
	s := scene{}
	for _, resource := range watched {
		all := map[string]model.Object{}
		maps.Copy(all, objects[resource])
		for of, write := range own {
			if of.resource != resource {
				continue
			}
			seen := all[of.name]
			switch {
			case write.removed != "":
				if seen != nil && seen.GetUID() == write.removed && seen.GetDeletionTimestamp() == nil {
					all[of.name] = terminating(seen)
				}
			case write.object != nil && write.version > v.versions[resource] && (seen == nil || versionOf(seen) < write.version):
				all[of.name] = write.object
			}
		}
		for of, object := range v.read {
			switch {
			case of.resource != resource || objects[resource][of.name] != nil:
			case object == nil:
				delete(all, of.name)
			default:
				all[of.name] = object
			}
		}
		s.add(resource, all)
	}
	return s
}

func terminating(object model.Object) model.Object {
	object = object.DeepCopyObject().(model.Object)
	object.SetDeletionTimestamp(&metav1.Time{})
	return object
}

func versionOf(object model.Object) int64 {
	version, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic("reading a resource version of our own: " + err.Error())
	}
	return version
}
