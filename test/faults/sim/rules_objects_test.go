// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// readFields reads the one patch that names no UID: it says who manages which fields of an object,
// and nothing else. A resource version is never that of another object.
func (j *judge) readFields(i *intent) {
	var operations []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(i.Body, &operations); err != nil {
		panic(fmt.Sprintf("reading patch %s: %v", i.Body, err))
	}
	for _, o := range operations {
		switch {
		case o.Op == "replace" && o.Path == "/metadata/managedFields":
		case o.Op == "replace" && o.Path == "/metadata/resourceVersion":
			if err := json.Unmarshal(o.Value, &i.version); err != nil {
				panic(fmt.Sprintf("reading patch %s: %v", i.Body, err))
			}
		default:
			j.broke("of fields it is only said whose they are", "%s sends %s: %s", i.by.name, i.Request, i.Body)
		}
	}
	if target := i.server.PastAt(i.Resource, i.Name, i.version); target != nil {
		i.uid = target.GetUID()
	}
}

// described reports whether a resource is one of those that templates describe.
func described(resource schema.GroupVersionResource) bool {
	return resource == model.ConfigMaps || resource == model.Secrets
}

// isJSONPatch reports whether a call is a patch by operations, which is for fields of objects only.
func (c *call) isJSONPatch() bool {
	return c.Verb == "patch" && described(c.Resource) && c.ContentType == string(types.JSONPatchType)
}

// leavesOthers: what others have made may be used, and is never written.
func leavesOthers(_ *judge, i *intent) string {
	if !described(i.Resource) || i.Verb == "create" || i.target == nil || scenarios.IsOf(scenarios.Name, i.target) {
		return ""
	}
	return fmt.Sprintf("it is that of %q", i.target.GetAnnotations()[v1.OwnerAnnotation])
}

// losesSight reports whether a replica has written an object that it does not see any more: one is
// watched by a label, which others may take off. Then it is found by creating it.
func (i *intent) losesSight(own ownWrite) bool {
	return described(i.Resource) && (own.version <= i.by.view.versions[i.Resource] || own.object.GetLabels()[v1.ObjectSetLabel] == "")
}

// createsWithObjects: without them its containers would fail, or go by what nobody has described.
func createsWithObjects(_ *judge, i *intent, s scene) string {
	pod := createdPod(i)
	if pod == nil || s.set == nil {
		return ""
	}
	for _, d := range scenarios.Describes(s.set) {
		if d.Ordinal != "" && podName(ordinalOf(pod.Name)) != scenarios.Name+"-"+d.Ordinal {
			continue
		}
		object := s.objects[d.Name]
		switch {
		case object == nil:
			return fmt.Sprintf("there is no %s", d.Name)
		case object.DeletionTimestamp != nil:
			return fmt.Sprintf("%s is terminating", d.Name)
		case scenarios.IsOf(scenarios.Name, object) && object.Annotations[v1.RetiredAtAnnotation] != "":
			return fmt.Sprintf("%s is to be deleted", d.Name)
		case d.Refused && !scenarios.IsOf(scenarios.Name, object):
			return fmt.Sprintf("%s is that of %q", d.Name, object.Annotations[v1.OwnerAnnotation])
		}
	}
	return ""
}

// writesAsDescribed: one object for each template and member, marked as that.
func writesAsDescribed(_ *judge, i *intent, s scene) string {
	if i.Resource != model.ConfigMaps || s.set == nil || i.isJSONPatch() || i.isNote() || i.Verb != "create" && i.Verb != "patch" {
		return ""
	}
	var object corev1.ConfigMap
	if err := json.Unmarshal(i.Body, &object); err != nil {
		panic(fmt.Sprintf("reading the body of %s: %v", i.Request, err))
	}
	all := scenarios.Describes(s.set)
	at := slices.IndexFunc(all, func(d scenarios.Described) bool { return d.Name == object.Name })
	switch {
	case at < 0:
		return fmt.Sprintf("the set describes no %s", object.Name)
	case !maps.Equal(object.Data, all[at].Data):
		return fmt.Sprintf("it has %v, want %v", object.Data, all[at].Data)
	case i.Verb == "create" && s.objects[object.Name] != nil && s.objects[object.Name].Labels[v1.ObjectSetLabel] == scenarios.Name:
		return fmt.Sprintf("there is one with UID %s", s.objects[object.Name].UID)
	default:
		return all[at].Marks(s.set, &object)
	}
}

// objectChanges judges a change of an object, whoever made it.
func (j *judge) objectChanges(object *corev1.ConfigMap, how watch.EventType) {
	if how == watch.Deleted {
		j.objectGoes(object)
	}
	place := object.Labels[v1.ObjectTemplateLabel] + " " + object.Labels[v1.ObjectOrdinalLabel]
	for _, other := range j.world.host.List(model.ConfigMaps, namespace) {
		labels := other.GetLabels()
		if how != watch.Deleted && place != " " && other.GetName() != object.Name && scenarios.IsOf(scenarios.Name, object) &&
			scenarios.IsOf(scenarios.Name, other) &&
			strings.Join([]string{labels[v1.ObjectTemplateLabel], labels[v1.ObjectOrdinalLabel]}, " ") == place {
			j.broke("there is one object for each template and member", "%s and %s are both that of %q", object.Name, other.GetName(), place)
		}
	}
}
