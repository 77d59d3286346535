// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// outputNote begins the annotations of a pod that say what it was given.
const outputNote = "apps.statefulset.dev/output."

// outputsHost is what objects give. They give something unless they withhold it.
type outputsHost struct {
	values map[identity.ObjectKey]string
	silent map[identity.ObjectKey]bool
	// late is true if objects that are created give nothing for now.
	late bool
	// read are the resource versions at which objects were read.
	read map[identity.ObjectKey]string
}

// outputsOf are what an object gives.
func (h *host) outputsOf(key identity.ObjectKey) map[string]render.Output {
	name := ""
	switch {
	case strings.HasSuffix(key.Name, "-ext"):
		name = "ADDRESS"
	case strings.HasSuffix(key.Name, "-vip"):
		name = "VIP"
	case key.Kind == "Secret":
		if h.gives.silent[key] {
			return map[string]render.Output{"password": {Missing: LacksKey}}
		}
		return map[string]render.Output{"password": {}}
	default:
		return nil
	}
	if h.gives.silent[key] {
		return map[string]render.Output{name: {Missing: "no such key: address"}}
	}
	value, told := h.gives.values[key]
	if !told {
		value = "10.0.0.1"
	}
	return map[string]render.Output{name: {Value: value}}
}

// seenObjects are the objects as the planner sees them: what they give it knows of those only that
// were read as they are.
func (h *host) seenObjects() map[identity.ObjectKey]*Object {
	all := maps.Clone(h.objects)
	for key, object := range all {
		seen := *object
		seen.Outputs, seen.Compared, seen.Differs = nil, false, ""
		if h.gives.read[key] == object.ResourceVersion {
			seen.Outputs, seen.Compared, seen.Differs = h.outputsOf(key), true, h.differences[key]
		}
		all[key] = &seen
	}
	return all
}

// computeAndRead makes a plan as the controller does: what a plan asks for is read, and another one
// made.
func (h *host) computeAndRead(view World) Plan {
	p := h.compute(view)
	for len(p.Reads) > 0 {
		for _, read := range p.Reads {
			object := *view.Objects[read.Key]
			if object.Compared {
				h.t.Fatalf("%v is asked for, and was read", read)
			}
			object.Outputs, object.Compared, object.Differs = h.outputsOf(read.Key), true, h.differences[read.Key]
			if h.gives.read == nil {
				h.gives.read = map[identity.ObjectKey]string{}
			}
			h.gives.read[read.Key] = object.ResourceVersion
			view.Objects[read.Key] = &object
		}
		p = h.compute(view)
	}
	return p
}

func (h *host) withhold(object string) {
	if h.gives.silent == nil {
		h.gives.silent = map[identity.ObjectKey]bool{}
	}
	h.gives.silent[keyOf(object)] = true
}

func (h *host) give(object string) {
	name, value, told := strings.Cut(object, "=")
	delete(h.gives.silent, keyOf(name))
	if told {
		if h.gives.values == nil {
			h.gives.values = map[identity.ObjectKey]string{}
		}
		h.gives.values[keyOf(name)] = value
	}
	h.changeObject(name, func(*Object) {})
}

func (h *host) dropObject(name string) {
	delete(h.objects, keyOf(name))
	delete(h.gives.silent, keyOf(name))
	delete(h.gives.values, keyOf(name))
}

// outputCommand carries out the commands about what objects give, and reports false if it knows no
// such command: "late" has objects that are created give nothing, "withhold Service/web-0-ext" one
// that there is, and "give Service/web-0-ext=10.0.0.2" has it give something, "prompt" ends being late.
func (h *host) outputCommand(name string, args []string) bool {
	switch name {
	case "late", "prompt":
		h.gives.late = name == "late"
	case "withhold":
		for _, object := range args {
			h.withhold(object)
			h.changeObject(object, func(*Object) {})
		}
	case "give":
		for _, object := range args {
			h.give(object)
		}
	default:
		return false
	}
	return true
}

// outputEvent is the command by which an event happens to what objects give, nil if there is none.
func (h *host) outputEvent(e event) []string {
	switch e.Kind {
	case "late":
		return []string{choice([]string{"late", "prompt"}, e.Value)}
	case "expose": // all that it takes is rare by chance
		return []string{"set", "identity=plain", choice([]string{"args=ADDRESS", "args=VIP"}, e.Which),
			choice([]string{"objects=ext,vip", "objects=ext:2,vip"}, e.Value)}
	}
	able := slices.DeleteFunc(h.objectNames(), func(name string) bool {
		return h.outputsOf(keyOf(name)) == nil || keyOf(name).Kind == "Secret" && h.objects[keyOf(name)].Annotations[generatedNote] != ""
	})
	command := on(e, able)
	if e.Kind == "give" && command != nil {
		command[1] += choice([]string{"", "=10.0.0.2", "=", "=10.0.0.3"}, e.Value)
	}
	return command
}

func (h *host) withholds() bool { return len(h.gives.silent) > 0 || h.gives.late }

// healOutputs has all objects give something.
func (s *stage) healOutputs() {
	if s.gives.late {
		s.happen("prompt")
	}
	for _, name := range s.objectNames() {
		if s.gives.silent[keyOf(name)] {
			s.happen("give", name)
		}
	}
	clear(s.gives.silent)
}
