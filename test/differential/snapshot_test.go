//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// snapshot is all that exists on a side and can be compared: the fields of every
// object by kind, name and path. An object is in it as a whole under an empty path.
type snapshot map[string]map[string]string

// ourConditions are those that apps/v1 does not have. Progressing is compared where it
// speaks of the one strategy for which apps/v1 has it.
func ourConditions() []string { return []string{"Ready", "Available", "Reconciling", "Stalled"} }

func (s *side) snapshot() snapshot {
	all := snapshot{}
	for _, kind := range []string{sets, pods, claims, revisions} {
		for _, object := range s.all(kind) {
			fields := map[string]string{}
			flatten(fields, "", s.comparable(kind, object))
			all[kind+" "+object.GetName()] = fields
		}
	}
	return all
}

// comparable is an object without what is different in every run, with its lists
// in an order of their own where their order means nothing, and with names in the
// place of UIDs.
func (s *side) comparable(kind string, object *unstructured.Unstructured) map[string]any {
	content := object.DeepCopy().Object
	for _, field := range []string{"apiVersion", "kind"} {
		delete(content, field)
	}
	meta := content["metadata"].(map[string]any)
	for _, field := range []string{"namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, field)
	}
	if object.GetDeletionTimestamp() != nil {
		meta["deletionTimestamp"] = "set"
	}
	if owners, ok := meta["ownerReferences"].([]any); ok {
		meta["ownerReferences"] = byKey(owners, s.owner)
	}
	switch kind {
	case pods:
		comparablePod(content)
	case claims:
		delete(content, "status")
	case sets:
		s.comparableSet(content)
	}
	return content
}

func (s *side) owner(ref map[string]any) string {
	if ref["apiVersion"] == s.api() {
		ref["apiVersion"] = "the set's"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, ok := s.names[fmt.Sprint(ref["uid"])]; ok {
		ref["uid"] = name
	}
	return fmt.Sprint(ref["uid"])
}

func comparablePod(pod map[string]any) {
	if volumes, ok, _ := unstructured.NestedSlice(pod, "spec", "volumes"); ok {
		pod["spec"].(map[string]any)["volumes"] = byKey(volumes, func(volume map[string]any) string { return fmt.Sprint(volume["name"]) })
	}
	status, _ := pod["status"].(map[string]any)
	pod["status"] = map[string]any{"phase": status["phase"], "ready": conditionsOf(status)["Ready"]}
}

func (s *side) comparableSet(set map[string]any) {
	status, ok := set["status"].(map[string]any)
	if !ok {
		return
	}
	delete(status, "lastProgressTime")
	conditions := conditionsOf(status)
	for _, kind := range ourConditions() {
		delete(conditions, kind)
	}
	if progressing, ok := conditions["Progressing"].(map[string]any); ok && !strings.HasPrefix(fmt.Sprint(progressing["reason"]), "Recreate") {
		delete(conditions, "Progressing")
	}
	status["conditions"] = conditions
}

// conditionsOf are the conditions of a status by their types, without times and messages.
func conditionsOf(status map[string]any) map[string]any {
	conditions := map[string]any{}
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		if condition, ok := item.(map[string]any); ok {
			conditions[fmt.Sprint(condition["type"])] = map[string]any{"status": condition["status"], "reason": condition["reason"]}
		}
	}
	return conditions
}

// byKey makes a map of a list whose order means nothing.
func byKey(list []any, key func(map[string]any) string) map[string]any {
	all := map[string]any{}
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			all[key(fields)] = fields
		}
	}
	return all
}

func flatten(fields map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			flatten(fields, path+"."+key, child)
		}
	case []any:
		for i, child := range value {
			flatten(fields, fmt.Sprintf("%s[%d]", path, i), child)
		}
	case nil:
	default:
		fields[strings.TrimPrefix(path, ".")] = fmt.Sprint(value)
	}
}

// compareSnapshots lists the fields that are different. Of an object that only one
// side has, no fields are listed.
func compareSnapshots(builtin, ours snapshot) []difference {
	var all []difference
	for _, object := range keysOf(builtin, ours) {
		a, b := builtin[object], ours[object]
		if a == nil || b == nil {
			all = append(all, difference{what: object, builtin: existence(a), ours: existence(b)})
			continue
		}
		for _, field := range keysOf(a, b) {
			if a[field] != b[field] {
				all = append(all, difference{what: object + " " + field, builtin: cmp.Or(a[field], missing), ours: cmp.Or(b[field], missing)})
			}
		}
	}
	return all
}

func existence(fields map[string]string) string {
	if fields == nil {
		return missing
	}
	return "exists"
}

func keysOf[V any](maps ...map[string]V) []string {
	var keys []string
	for _, m := range maps {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
