// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/test/harness"
)

// aForeignRevision is one of a DaemonSet, with a template of 4 KiB.
func aForeignRevision(i int) *appsv1.ControllerRevision {
	r := &appsv1.ControllerRevision{Revision: 7}
	r.Namespace, r.Name = fmt.Sprintf("kube-%d", i), fmt.Sprintf("node-agent-%d", i)
	r.UID, r.ResourceVersion = types.UID(fmt.Sprintf("%036d", i)), fmt.Sprint(1000000+i)
	r.Labels = map[string]string{"app": fmt.Sprint(i), "controller-revision-hash": fmt.Sprint(i)}
	r.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: fmt.Sprintf("node-agent-%d", i/10),
		UID: types.UID(fmt.Sprintf("%036d", i)), Controller: new(true)}}
	r.Data.Raw = bytes.Repeat([]byte("x"), 4096)
	return r
}

func aForeignClaim(i int) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{}
	c.Namespace, c.Name = fmt.Sprintf("team-%d", i), fmt.Sprintf("uploads-of-%d-shop", i)
	c.UID, c.ResourceVersion = types.UID(fmt.Sprintf("%036d", i)), fmt.Sprint(1000000+i)
	c.Labels = map[string]string{"app": fmt.Sprint(i)}
	c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: quantity.MustParse("1Gi")}
	c.Spec.VolumeName = fmt.Sprintf("pvc-%036d", i)
	return c
}

// aMembersClaim is one that could be a member's of a set that does not exist.
func aMembersClaim(i int) *corev1.PersistentVolumeClaim {
	c := aForeignClaim(i)
	c.Name = fmt.Sprintf("data-kafka%d-%d", i/3, i%3)
	return c
}

// aBuiltInRevision is one of a built-in StatefulSet.
func aBuiltInRevision(i int) *appsv1.ControllerRevision {
	r := aForeignRevision(i)
	r.OwnerReferences[0].Kind = "StatefulSet"
	return r
}

// mostOfForeign is how many bytes a foreign object may take, with its key and its places in
// the indexes.
const mostOfForeign = 200

func TestForeignObjectsTakeLittleMemory(t *testing.T) {
	const many = 20_000
	for sentence, test := range map[string]struct {
		kind resource
		make func(i int) metav1.Object
	}{
		"a revision of a DaemonSet":            {revisionsResource, func(i int) metav1.Object { return aForeignRevision(i) }},
		"a revision of a built-in StatefulSet": {revisionsResource, func(i int) metav1.Object { return aBuiltInRevision(i) }},
		"a claim that can be no member's":      {claimsResource, func(i int) metav1.Object { return aForeignClaim(i) }},
		"a claim that no set of ours wants":    {claimsResource, func(i int) metav1.Object { return aMembersClaim(i) }},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := filled(t)
			trim := watchedKinds(fake.NewClientset(), nil).of(test.kind).trim
			before := harness.Heap()
			for i := range many {
				if err := v.put(test.kind, trim(v, test.make(i))); err != nil {
					t.Fatal(err)
				}
			}
			each := (harness.Heap() - before) / many
			t.Logf("%s: %d bytes", sentence, each)
			if each > mostOfForeign {
				t.Errorf("got %d bytes for each of %d, want %d at most", each, many, mostOfForeign)
			}
			runtime.KeepAlive(v)
		})
	}
}

func TestANameThatAForeignRevisionHasIsKnownToBeTaken(t *testing.T) {
	set := newSet("web")
	first := plan.Compute(plan.World{Set: set})
	wanted := first.First[0].(action.CreateRevision).Revision
	foreign := aForeignRevision(1)
	foreign.Namespace, foreign.Name = set.Namespace, wanted.Name
	term, _ := newTestTerm(t, set)
	if err := term.view.put(revisionsResource, trimRevision(term.view, foreign)); err != nil {
		t.Fatal(err)
	}
	world, err := term.observe(t.Context(), set)
	if err != nil || len(world.Revisions) != 1 {
		t.Fatalf("got revisions %v and error %v, want the one that is in the way", world.Revisions, err)
	}
	for _, act := range plan.Compute(world).All() {
		switch act := act.(type) {
		case action.CreateRevision:
			if act.Revision.Name == foreign.Name {
				t.Errorf("got a create of %s, which is taken, want another name", act.Revision.Name)
			}
		case action.AdoptRevision:
			t.Errorf("got the adoption of %v, which has a controller", act.Revision)
		}
	}
}

func TestARevisionThatIsGivenUpWakesWhoCanAdoptIt(t *testing.T) {
	set := newSet("web")
	term, _ := newTestTerm(t, set)
	handler := term.handlerOf(term.kinds.of(revisionsResource))
	foreign := aForeignRevision(1)
	foreign.Namespace, foreign.Labels = set.Namespace, set.Spec.Selector.MatchLabels
	orphan := foreign.DeepCopy()
	orphan.OwnerReferences = nil
	stub, free := trimRevision(term.view, foreign), trimRevision(term.view, orphan)
	for sentence, test := range map[string]struct {
		before, after any
		want          int
	}{
		"from another's to nobody's": {stub, free, 1},
		"from nobody's to another's": {free, stub, 1},
		"it stays another's":         {stub, stub, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			handler.OnUpdate(test.before, test.after)
			if got := term.queue.Len(); got != test.want {
				t.Errorf("got %d sets woken, want %d", got, test.want)
			}
			for range term.queue.Len() {
				key, _ := term.queue.Get()
				term.queue.Done(key)
			}
		})
	}
}

func TestForeignObjectsComeAndGoThroughAnInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := fake.NewClientset(aForeignRevision(1), aForeignClaim(1))
		c, v := newInformers(watchedKinds(host, setsfake.NewSimpleClientset()))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		for _, informer := range c {
			running.Go(func() { informer.RunWithContext(ctx) })
		}
		if !cache.WaitForCacheSync(ctx.Done(), c.synced()...) {
			t.Fatal("the caches were not filled")
		}
		changed := aForeignClaim(1)
		changed.ResourceVersion = "2000000"
		for what, do := range map[string]func() error{
			"creating a claim": func() error {
				_, err := host.CoreV1().PersistentVolumeClaims("team-2").Create(ctx, aForeignClaim(2), metav1.CreateOptions{})
				return err
			},
			"changing a claim": func() error {
				_, err := host.CoreV1().PersistentVolumeClaims("team-1").Update(ctx, changed, metav1.UpdateOptions{})
				return err
			},
			"deleting a revision": func() error {
				return host.AppsV1().ControllerRevisions("kube-1").Delete(ctx, "node-agent-1", metav1.DeleteOptions{})
			},
		} {
			if err := do(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		synctest.Wait()
		one, ok := get[*stub](v, claimsResource, "team-1", changed.Name)
		if !ok || one.GetResourceVersion() != "2000000" {
			t.Errorf("got stub %v of the claim that was changed, want it at version 2000000", one)
		}
		if claims, revisions := len(v[claimsResource].List()), len(v[revisionsResource].List()); claims != 2 || revisions != 0 {
			t.Errorf("got %d claims and %d revisions, want 2 and none", claims, revisions)
		}
	})
}
