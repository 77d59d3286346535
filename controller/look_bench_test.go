// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// BenchmarkConvergedLook syncs a set of 5,000 members with a claim each that is as it
// should be. That is what a change of one pod costs, and make bench holds it to a limit.
func BenchmarkConvergedLook(b *testing.B) {
	set := newSet("web", "data")
	set.Spec.Replicas = new(int32(5000))
	term, host := newTestTerm(b, set, membersOf(b, set)...)
	converge(b, term, set)
	host.ClearActions()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := term.sync(b.Context(), nil, cache.MetaObjectToName(set)); err != nil {
			b.Fatal(err)
		}
	}
	if asked := host.Actions(); len(asked) > 0 {
		b.Errorf("a look at a set that is as it should be has asked the host for %v", asked)
	}
}

// mostPerLook is how many bytes a look at 5,000 members may allocate.
const mostPerLook = 2e6

func TestALookAtASetThatIsAsItShouldBeTakesLittleMemory(t *testing.T) {
	if got := testing.Benchmark(BenchmarkConvergedLook).AllocedBytesPerOp(); got == 0 || got > mostPerLook {
		t.Errorf("allocated by a look at 5,000 members: got %d bytes, want at most %.0f, and some", got, mostPerLook)
	}
}

// membersOf are the revision, pods and claims of a set, as the caches hold them.
func membersOf(b *testing.B, set *v1.StatefulSet) []metav1.Object {
	b.Helper()
	sets := filled(b, set)
	var objects []metav1.Object
	revision := ""
	for _, act := range plan.Compute(plan.World{Set: set}).All() {
		if create, ok := act.(action.CreateRevision); ok {
			created := create.Revision.DeepCopy()
			created.UID, created.ResourceVersion = "revision-uid", "50"
			objects, revision = append(objects, trimRevision(sets, created).(*appsv1.ControllerRevision)), created.Name
		}
	}
	for ordinal := range int(*set.Spec.Replicas) {
		pod := newPod(set, ordinal)
		pod.Labels[appsv1.StatefulSetRevisionLabel] = revision
		objects = append(objects, trimPod(sets, pod).(*corev1.Pod))
		for _, claim := range identity.Claims(set, ordinal) {
			claim.ResourceVersion, claim.UID = fmt.Sprint(ordinal), "claim-uid"
			objects = append(objects, trimClaim(sets, claim).(*corev1.PersistentVolumeClaim))
		}
	}
	return objects
}

// converge gives the set the status that it comes to.
func converge(b *testing.B, term *term, set *v1.StatefulSet) {
	b.Helper()
	for range 10 {
		world, err := term.observe(b.Context(), set)
		if err != nil {
			b.Fatal(err)
		}
		decided := plan.Compute(world)
		if len(decided.All()) > 0 {
			b.Fatalf("the set is not as it should be: %v", decided.All()[0])
		}
		if equality.Semantic.DeepEqual(set.Status, decided.Status) {
			return
		}
		set.Status = decided.Status
	}
	b.Fatal("the status of the set does not come to rest")
}
