// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
	"statefulset.dev/test/heap"
)

// mostHeap is how many bytes more a forecast may have in memory at its peak.
const mostHeap = 64 << 20

// bodySize is about how many bytes the proposals of hostileSets have in JSON.
const bodySize = 50 << 10

// hostileSets are proposals that are small and want much, by what they are full of.
func hostileSets() map[string]*v1.StatefulSet {
	filled := func(fill func(*v1.StatefulSet)) *v1.StatefulSet {
		set := web()
		set.Spec.PodManagementPolicy, set.Spec.Replicas = v1.ParallelPodManagement, new(int32(1<<31-1))
		fill(set)
		v1.SetObjectDefaults_StatefulSet(set)
		return set
	}
	return map[string]*v1.StatefulSet{
		"containers": filled(func(set *v1.StatefulSet) {
			for i := range bodySize / len(`{"name":"c1000","image":"b"},`) {
				set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "b"})
			}
		}),
		"claim templates": filled(func(set *v1.StatefulSet) {
			for i := range bodySize / len(
				`{"metadata":{"name":"c100"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}},`) {
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates,
					corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", i)}})
			}
		}),
		"volumes": filled(func(set *v1.StatefulSet) {
			for i := range bodySize / len(`{"name":"v1000"},`) {
				set.Spec.Template.Spec.Volumes = append(set.Spec.Template.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("v%d", i)})
			}
		}),
	}
}

// many is the world of a set of 5,000 members that run, and whose image changes.
func many() plan.World {
	set := web()
	set.Spec.Replicas = new(int32(5000))
	h := newHost(plan.World{Set: set, Now: noon})
	p := plan.Compute(h.world())
	must(h.carryOut(p))
	for ordinal := range 5000 {
		delete(h.Pods, identity.PodName(set.Name, ordinal))
		must(h.Do(action.CreateMember{
			Claims: newClaims(h, ordinal), Pod: identity.Pod(set, &set.Spec.Template, p.Status.UpdateRevision, ordinal)}))
	}
	h.react(p)
	return proposed(h.world(), newImage)
}

// newClaims are the claims of a member that the host does not have.
func newClaims(h *host, ordinal int) []*corev1.PersistentVolumeClaim {
	return slices.DeleteFunc(identity.Claims(h.Set, ordinal),
		func(claim *corev1.PersistentVolumeClaim) bool { return h.Claims[claim.Name] != nil })
}

// must panics if a plan could not be carried out.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func TestAForecastTakesLittleMemory(t *testing.T) {
	worlds := map[string]plan.World{"an ordered update of 5,000 members": many()}
	for full, set := range hostileSets() {
		worlds["a body of 50 KiB full of "+full] = plan.World{Set: set, Now: noon}
	}
	for name, world := range worlds {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			var shown *v1.StatefulSetPlan
			peak := heap.Peak(func() { shown = played(t, world) })
			t.Logf("at the peak %d MiB more, %s, %d rounds", peak>>20, time.Since(began).Round(time.Millisecond), len(shown.Rounds))
			if peak > mostHeap {
				t.Errorf("memory at the peak: got %d MiB more, want at most %d", peak>>20, mostHeap>>20)
			}
		})
	}
}

func TestAForecastEndsBeforeTheNextRound(t *testing.T) {
	gone, rounds := errors.New("nobody waits"), 0
	world := many()
	began := time.Now()
	p, err := Play(world, func() error {
		if rounds++; rounds > 3 {
			return gone
		}
		return nil
	})
	t.Logf("three rounds of 5,000 members took %s", time.Since(began).Round(time.Millisecond))
	if p != nil || !errors.Is(err, gone) || rounds != 4 {
		t.Errorf("got plan %v and error %v after asking %d times, want none, %v and 4", p, err, rounds, gone)
	}
}
