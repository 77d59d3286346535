// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// anchorText says what an object goes with, empty if it stays.
func anchorText(object *Object) string {
	for _, ref := range object.OwnerReferences {
		if isAnchorRef(ref) {
			return ", goes with " + ref.Name
		}
	}
	return ""
}

// collectOwned plays the garbage collector for objects: what belongs to nothing that exists goes.
func (h *host) collectOwned() (acted []string) {
	alive := map[types.UID]bool{h.set.UID: true, stranger().UID: true}
	for revision := range maps.Values(h.revisions) {
		alive[revision.UID] = true
	}
	for _, name := range h.objectNames() {
		if object := h.objects[keyOf(name)]; dangling(object, alive) {
			h.dropObject(name)
			acted = append(acted, name+" is collected")
		} else if left := living(object, alive); len(left) < len(object.OwnerReferences) {
			h.changeObject(name, func(o *Object) { o.OwnerReferences = left })
			acted = append(acted, name+" loses the owners that are gone")
		}
	}
	return acted
}

// anchorCommand carries out the commands about what objects belong to: "freeobject" takes all owners from
// an object, "coown" has somebody else own it, too, and "dropanchor" deletes what the objects of the set belong to.
func (h *host) anchorCommand(name string, args []string) bool {
	switch name {
	case "freeobject":
		for _, object := range args {
			h.changeObject(object, func(o *Object) { o.OwnerReferences, o.Drifted = nil, true })
		}
	case "coown":
		for _, object := range args {
			h.changeObject(object, func(o *Object) {
				owner := stranger()
				owner.Controller = nil
				o.OwnerReferences = append(slices.Clone(o.OwnerReferences), owner)
			})
		}
	case "dropanchor":
		for _, revision := range slices.Collect(maps.Values(h.revisions)) {
			if isAnchor(revision) {
				delete(h.revisions, revision.Name)
			}
		}
	default:
		return false
	}
	return true
}
