//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// orderOf begins the name of the history of a set's members. When a pod is gone is
// up to the kubelet, so that is not part of the order.
const orderOf = "order of members of "

// history is what happened on a side during one step, by what it is called in a
// difference.
type history map[string][]string

// history tells what happened since the log had the given length.
func (s *side) history(since int) history {
	s.mu.Lock()
	log := slices.Clone(s.log[since:])
	s.mu.Unlock()
	told := history{}
	// The host's objects come by one watch for each kind, but their versions have one
	// order. The sets are not all of the host's, and nothing is compared of their order.
	slices.SortStableFunc(log, func(a, b change) int {
		return cmp.Or(cmp.Compare(setsLast(a), setsLast(b)), cmp.Compare(a.version, b.version))
	})
	for _, c := range log {
		if c.verb == changed || c.kind == events {
			continue
		}
		what := "changes of " + c.kind + "s"
		if c.kind == pods && c.verb != gone {
			what = orderOf + setOf(c.name)
		}
		told[what] = append(told[what], c.verb+" "+c.name)
		if c.kind == claims && c.verb == created && len(c.object.GetOwnerReferences()) > 0 {
			told["claims made with an owner"] = append(told["claims made with an owner"], c.name)
		}
	}
	for what, lines := range told {
		if set, ok := strings.CutPrefix(what, orderOf); !ok || !s.isOrdered(set) {
			slices.Sort(lines)
		}
	}
	return told
}

func setsLast(c change) int {
	if c.kind == sets {
		return 1
	}
	return 0
}

var ordinal = regexp.MustCompile(`-[0-9]+$`)

func setOf(pod string) string { return ordinal.ReplaceAllString(pod, "") }

// isOrdered reports whether the set promises to do one thing after the other. The
// garbage collector, which removes the members of a deleted set, does not.
func (s *side) isOrdered(name string) bool {
	set := s.get(sets, name)
	if set == nil || set.GetDeletionTimestamp() != nil {
		return false
	}
	policy, _, _ := unstructured.NestedString(set.Object, "spec", "podManagementPolicy")
	strategy, _, _ := unstructured.NestedString(set.Object, "spec", "updateStrategy", "type")
	return policy == "OrderedReady" && strategy != "Recreate"
}

func compareHistories(builtin, ours history) []difference {
	var all []difference
	for _, what := range keysOf(builtin, ours) {
		if !slices.Equal(builtin[what], ours[what]) {
			all = append(all, difference{what: what, builtin: listed(builtin[what]), ours: listed(ours[what])})
		}
	}
	return all
}

func listed(lines []string) string {
	if len(lines) == 0 {
		return missing
	}
	return strings.Join(lines, ", ")
}

var named = regexp.MustCompile(`(?i)\b(pod|claim|persistentvolumeclaim) "?([a-z0-9.-]*[a-z0-9])`)

// namedIn are the pods or claims that a message is about. Our messages list those that
// the same happened to, before they say whose they are; in others, the first one counts.
func namedIn(message string) []string {
	list, _, ours := strings.Cut(message, " of set ")
	var objects []string
	for _, object := range named.FindAllStringSubmatch(list, -1) {
		objects = append(objects, strings.TrimPrefix(strings.ToLower(object[1]), "persistentvolume")+" "+object[2])
		if !ours {
			break
		}
	}
	return objects
}

// told is the set of the events about the side's objects: of which object, the
// reason, and which pods or claims the message names. Whatever an event has said at some time
// counts: recorders combine events that are similar to many others, and the message is then that
// of the last.
func (s *side) told() map[string]string {
	s.mu.Lock()
	log := slices.Clone(s.log)
	s.mu.Unlock()
	all := map[string]string{}
	for _, c := range log {
		if c.kind != events {
			continue
		}
		about, _, _ := unstructured.NestedStringMap(c.object.Object, "involvedObject")
		reason, _, _ := unstructured.NestedString(c.object.Object, "reason")
		kind, _, _ := unstructured.NestedString(c.object.Object, "type")
		message, _, _ := unstructured.NestedString(c.object.Object, "message")
		line := fmt.Sprintf("event %s %s about %s %s", kind, reason, strings.ToLower(about["kind"]), about["name"])
		objects := namedIn(message)
		for _, object := range objects {
			all[line+" naming "+object] = "told"
		}
		if len(objects) == 0 {
			all[line] = "told"
		}
	}
	return all
}

func compareEvents(builtin, ours map[string]string) []difference {
	var all []difference
	for _, what := range keysOf(builtin, ours) {
		if builtin[what] != ours[what] {
			all = append(all, difference{what: what, builtin: textOr(builtin[what]), ours: textOr(ours[what])})
		}
	}
	return all
}

func textOr(text string) string {
	if text == "" {
		return missing
	}
	return text
}
