// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scenario is something that users do to sets.
type Scenario struct {
	// Name is a few words, the same in every report.
	Name string
	// Set is the set that the user creates, in terms of apps/v1. Patches add fields that apps/v1
	// does not have. It has no namespace, and must be copied before it is changed.
	Set *appsv1.StatefulSet
	// Steps are carried out in this order. The first is always Create.
	Steps []Step
}

// MayGetStuck reports whether members may be created with an image with which they do not become
// ready, if the scenario does not wait or a pod is lost, and then stay unready, as those of apps/v1
// do, because the set does not ask for a replacement.
func (s Scenario) MayGetStuck() bool {
	says := func(text string) bool {
		return slices.ContainsFunc(s.Steps, func(step Step) bool {
			patch, is := step.(Patch)
			return is && strings.Contains(string(patch), text)
		})
	}
	return says(Unlucky) && !says("replaceUnreadyAfterSeconds")
}

// Step is one of Create, Patch, Delete, EndPod, PutObject, PatchObject, DeleteObject and Wait.
type Step interface {
	fmt.Stringer
	step()
}

// Create creates the scenario's set. It waits until an existing set of this name is deleted.
type Create struct{}

// Patch changes the set with a JSON merge patch, the same for every group.
type Patch string

// Delete deletes the set with a propagation policy, and does not wait for the end of the deletion.
type Delete metav1.DeletionPropagation

// EndPod lets the pod of an ordinal fail: its phase becomes Failed, its Ready condition False, and
// it gets the reason. It waits until the pod exists.
type EndPod struct {
	Ordinal int
	// Reason is empty or "Evicted".
	Reason string
}

// Wait waits for a state.
type Wait struct {
	// For names the state.
	For string
	// Missing returns what is missing for the state, and "" once it is reached.
	Missing func(Observed) string
}

func (Create) step() {}
func (Patch) step()  {}
func (Delete) step() {}
func (EndPod) step() {}
func (Wait) step()   {}

func (Create) String() string   { return "create the set" }
func (s Patch) String() string  { return "patch the set with " + string(s) }
func (s Delete) String() string { return "delete the set with propagation " + string(s) }
func (s EndPod) String() string { return fmt.Sprintf("fail pod %d for reason %q", s.Ordinal, s.Reason) }
func (s Wait) String() string   { return "wait until " + s.For }
