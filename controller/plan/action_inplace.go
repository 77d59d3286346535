// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
)

// UpdateInPlace brings a pod to another revision without replacing it, in one write.
type UpdateInPlace struct {
	Ordinal  int
	Pod      Target
	Revision string
	// Images are those that containers are to have, Sidecars those of init containers, by
	// the name of the container. Each of these is restarted.
	Images, Sidecars map[string]string
	// Labels and Annotations are the values that keys are to have, nil for one that is to
	// go. The revision, and what the controller notes of the update, are among them.
	Labels, Annotations map[string]*string
	// Turn is that of DeletePod.
	Turn string
	// Otherwise is carried out if the host understands the update and finds it invalid; nil
	// if nothing is.
	Otherwise *DeletePod
}

// restarts reports whether containers are restarted.
func (a UpdateInPlace) restarts() bool { return len(a.Images)+len(a.Sidecars) > 0 }

// EndInPlace removes from a pod what was noted of its update in place.
type EndInPlace struct {
	Ordinal int
	Pod     Target
	// Revision is the one that the pod has.
	Revision string
}

func (a UpdateInPlace) String() string {
	return fmt.Sprintf("update pod %s in place (%s)", a.Pod.Name, join(a.restarted(), a.relabelled()...))
}

// restarted says which containers get another image.
func (a UpdateInPlace) restarted() (parts []string) {
	names := slices.Sorted(maps.Keys(a.Images))
	names = append(names, slices.Sorted(maps.Keys(a.Sidecars))...)
	switch more := len(names) - fewNames; {
	case len(names) == 0:
		return nil
	case more > 0:
		return []string{fmt.Sprintf("images of %s and %d more", strings.Join(names[:fewNames], ", "), more)}
	case len(names) > 1:
		return []string{"images of " + strings.Join(names, ", ")}
	default:
		return []string{"image of " + names[0]}
	}
}

// relabelled says whether more than the revision is changed of the metadata.
func (a UpdateInPlace) relabelled() (parts []string) {
	if len(a.Labels) > 1 {
		parts = append(parts, "labels")
	}
	_, noted := a.Annotations[v1.InPlaceAnnotation]
	if len(a.Annotations) > one(noted) {
		parts = append(parts, "annotations")
	}
	if len(parts) == 0 && !a.restarts() {
		parts = append(parts, "revision")
	}
	return parts
}

func (a EndInPlace) String() string { return "end the update in place of pod " + a.Pod.Name }

func (UpdateInPlace) action() {}
func (EndInPlace) action()    {}
