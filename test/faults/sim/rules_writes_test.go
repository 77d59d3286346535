// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/test/faults/sim/model"
)

// shapeRule is about a write alone, whatever the replica knew.
type shapeRule struct {
	name  string
	wrong func(*judge, *intent) string
}

var shapeRules = []shapeRule{
	{"every change and every delete names the UID and the version that was decided on", namesTarget},
	{"nothing is removed by force, and no set at all", removesGently},
	{"a controller decides on no view that is older than its own writes", knowsOwnWrites},
	{"a former leader begins no write", leads},
	{"objects are created under the names that they are known by", ownNames},
	{"what others have made is not written", leavesOthers},
}

func namesTarget(_ *judge, i *intent) string {
	if i.Verb == "create" {
		return ""
	}
	if i.uid == "" || i.version == "" {
		return fmt.Sprintf("it names the UID %q and the version %q", i.uid, i.version)
	}
	if i.target == nil {
		return fmt.Sprintf("there never was an object with UID %q and version %q", i.uid, i.version)
	}
	return ""
}

func removesGently(_ *judge, i *intent) string {
	switch {
	case i.Verb != "delete":
		return ""
	case i.Resource != model.Pods && i.Resource != model.Revisions && i.Resource != model.Claims && i.Resource != model.ConfigMaps:
		return "that is not for a controller to delete"
	case i.Resource == model.Pods && i.options.GracePeriodSeconds != nil:
		return fmt.Sprintf("the pod gets only %d seconds to go", *i.options.GracePeriodSeconds)
	}
	return ""
}

func knowsOwnWrites(j *judge, i *intent) string {
	name := i.Name
	if i.Verb == "create" {
		name = i.object.GetName()
	}
	own, ok := i.by.view.own[written{i.Resource, name}]
	switch {
	case !ok:
		return ""
	case i.Verb == "create":
		// What was written for an earlier set of the name says nothing to its successor.
		if own.object == nil || i.losesSight(own) ||
			!slices.EqualFunc(own.object.GetOwnerReferences(), i.object.GetOwnerReferences(), sameOwner) {
			return ""
		}
		if there, err := i.server.Get(i.Resource, i.Namespace, name); err == nil && there.GetUID() == own.object.GetUID() {
			return fmt.Sprintf("it has created that with UID %s before, and it is still there", own.object.GetUID())
		}
		return ""
	case own.removed != "" && own.removed == i.uid:
		return fmt.Sprintf("it has deleted that with UID %s before", own.removed)
	case own.removed == "" && i.target != nil && i.uid == own.object.GetUID() && versionOf(i.target) < own.version:
		return fmt.Sprintf("it goes by version %s, and has itself made version %d", i.version, own.version)
	}
	return ""
}

func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

func leads(j *judge, i *intent) string {
	if j.deposed[i.by] {
		return "its lease had run out before"
	}
	return ""
}

func ownNames(_ *judge, i *intent) string {
	if i.Verb != "create" {
		return ""
	}
	if i.object.GetName() == "" {
		return "it leaves the name to the server"
	}
	return ""
}

// freshStart notes how new the first list of a replica has to be.
func (j *judge) freshStart(c *call) {
	if c.Verb != "list" && c.Verb != "watch" {
		return
	}
	if j.born[c.by] == nil {
		j.born[c.by] = map[schema.GroupVersionResource]int64{}
	}
	if _, asked := j.born[c.by][c.Resource]; !asked {
		j.born[c.by][c.Resource] = c.server.Version()
	}
}

// begins judges the first list of a replica.
func (j *judge) begins(r *replica, resource schema.GroupVersionResource, version int64) {
	if born := j.born[r][resource]; version < born {
		j.broke("a controller begins with nothing older than what there was when it asked",
			"%s gets %s at version %d, and asked at %d", r.name, resource.Resource, version, born)
	}
	j.born[r][resource] = 0
}

// listed notes a list that was not streamed.
func (j *judge) listed(c *call) {
	list, objects := model.Items(c.result)
	version, named := parse(list), map[string]model.Object{}
	for _, object := range objects {
		named[object.GetName()] = object
	}
	c.by.view.replace(c.Resource, named, version)
	j.begins(c.by, c.Resource, version)
}

func parse(list metav1.ListInterface) int64 {
	var version int64
	if _, err := fmt.Sscan(list.GetResourceVersion(), &version); err != nil {
		panic("reading the version of a list: " + err.Error())
	}
	return version
}
