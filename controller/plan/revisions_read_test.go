// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// interrupted is a set with a member below the partition that has lost its pod, and
// another one at the earlier revision, with what has been read of that.
func interrupted(t *testing.T) (world World, earlier *appsv1.ControllerRevision) {
	t.Helper()
	h := newHost(t, Compute)
	h.configure([]string{"replicas=3", "policy=Parallel", "partition=2"})
	h.look()
	allReady(h)
	earlier = h.revisions[h.set.Status.UpdateRevision]
	h.configure([]string{"image=nginx:2"})
	h.look()
	delete(h.pods, identity.PodName("web", 0))
	h.look()
	delete(h.pods, identity.PodName("web", 0))
	if world = h.world(); earlier == nil || len(world.Cache.digests) == 0 || len(world.Cache.sources) == 0 {
		t.Fatalf("want an earlier revision %v that has been compared and used: got %+v", earlier, world.Cache)
	}
	return world, h.revisions[earlier.Name]
}

// imageCreated is the image that member 0 is created with, empty if it is not.
func imageCreated(world World) string {
	for _, act := range Compute(world).All() {
		if create, ok := act.(action.CreateMember); ok && create.Ordinal == 0 {
			return create.Pod.Spec.Containers[0].Image
		}
	}
	return ""
}

func TestARevisionIsReadOncePerVersion(t *testing.T) {
	const unreadable = `{"spec":{}}`
	for sentence, c := range map[string]struct {
		change func(*World, *appsv1.ControllerRevision)
		want   string
	}{
		"a version that was read is not read again": {func(*World, *appsv1.ControllerRevision) {}, "nginx:1"},
		"another version is read":                   {func(_ *World, r *appsv1.ControllerRevision) { r.ResourceVersion += "0" }, ""},
		"another revision of the name is read":      {func(_ *World, r *appsv1.ControllerRevision) { r.UID = "other" }, ""},
		"what nobody has read is read":              {func(w *World, _ *appsv1.ControllerRevision) { w.Cache = Cache{} }, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			world, earlier := interrupted(t)
			if got := imageCreated(world); got != "nginx:1" {
				t.Fatalf("image of member 0: got %q, want nginx:1", got)
			}
			earlier.Data.Raw = []byte(unreadable) // which shows whether it is read
			c.change(&world, earlier)
			if got := imageCreated(world); got != c.want {
				t.Errorf("image of member 0: got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatIsReadIsKeptAsLongAsItIsNeeded(t *testing.T) {
	world, _ := interrupted(t)
	world.Cache = Compute(world).Cache
	if world.Cache.IsEmpty() {
		t.Fatal("got nothing that was read, want the earlier revision")
	}
	for _, pod := range world.Pods {
		pod.Labels[identity.RevisionLabel] = world.Set.Status.UpdateRevision
	}
	world.Set.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(0))
	if kept := Compute(world).Cache; !kept.IsEmpty() {
		t.Errorf("with all members at the present revision: got %+v, want nothing", kept)
	}
}

func TestALookDuringAnUpdateReadsNothingAgain(t *testing.T) {
	world, _ := interrupted(t)
	again := testing.AllocsPerRun(5, func() { Compute(world) })
	world.Cache = Cache{}
	if first := testing.AllocsPerRun(5, func() { Compute(world) }); again > first-100 {
		t.Errorf("allocations of a look: got %v, want 100 fewer than the %v of the first", again, first)
	}
}
