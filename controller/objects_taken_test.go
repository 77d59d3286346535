// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// strange is an object of somebody else with the name of a member's.
func strange() *unstructured.Unstructured {
	return &unstructured.Unstructured{
		Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web-1-conf", "uid": "other"}}}
}

func TestANameThatIsTakenIsLookedAt(t *testing.T) {
	term, host, set := newObjectTerm(t)
	term.eventually(t, "the kind is known", isKnown)
	stranger := strange()
	host.do(func() { host.put(stranger) })
	templates, _ := identity.OverridesOf(set).Objects()
	made, _ := templates[0].Make(1)
	done := term.execute(t.Context(), nil, set,
		plan.Plan{Finally: []action.Chain{{action.CreateObject{Ordinal: 1, Template: "conf", Object: made}}}})
	if done.stopped == nil || len(done.failures) > 0 {
		t.Errorf("creating what there is: stopped by %v, failures %v, want it to be looked at again", done.stopped, done.failures)
	}
	world := term.eventually(t, "the stranger is seen", func(w plan.World) bool { return w.Objects[confOf(1)] != nil })
	if found := world.Objects[confOf(1)]; found.UID != "other" || found.OwnerLives ||
		term.states.getOrCreate(cache.MetaObjectToName(set)).objects.NextSync() == 0 {
		t.Errorf("the stranger is seen as %+v, want it as it is, and to be looked at again", found)
	}
	without := set.DeepCopy()
	without.Generation, without.Spec.ObjectTemplates = 2, nil
	if err := term.view[setsResource].Update(without); err != nil {
		t.Fatal(err)
	}
	term.eventually(t, "nothing is described any more", func(w plan.World) bool { return w.Objects == nil })
	if next := term.states.getOrCreate(cache.MetaObjectToName(set)).objects.NextSync(); next != 0 {
		t.Errorf("a set that describes nothing is looked at again in %s, want never", next)
	}
}

// TestNamesThatOthersHaveAreLookedAtFirst has a controller begin with a set whose status counts them.
func TestNamesThatOthersHaveAreLookedAtFirst(t *testing.T) {
	for sentence, test := range map[string]struct {
		foreign int32
		pod     string
		want    bool
	}{
		"the status counts one, and the member has a pod":  {1, "web-1", true},
		"the status counts one, and another has a pod":     {1, "web-0", false},
		"the status counts none, and the member has a pod": {0, "web-1", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host, set := newObjectTerm(t)
			stranger := strange()
			host.do(func() { host.put(stranger) })
			set.Status.ObjectTemplates = []v1.ObjectTemplateStatus{{Name: "conf", Kind: "ConfigMap", Foreign: test.foreign}}
			world := plan.World{}
			for end := time.Now().Add(20 * time.Second); !isKnown(world) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				world = plan.World{Set: set, Now: term.config.Clock.Now(), Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: test.pod}}}}
				term.objectWatcher.Observe(t.Context(), &term.states.getOrCreate(cache.MetaObjectToName(set)).objects, &world)
			}
			if got := world.Objects[confOf(1)] != nil; !isKnown(world) || got != test.want {
				t.Errorf("known %t, and the object of somebody else is seen: %t, want %t", isKnown(world), got, test.want)
			}
		})
	}
}

// TestANameThatMayNotBeReadHoldsUpNothingElse has the host refuse to show who has a name: the set is
// still planned for, without objects of that kind.
func TestANameThatMayNotBeReadHoldsUpNothingElse(t *testing.T) {
	term, host, set := newObjectTerm(t)
	term.eventually(t, "the kind is known", isKnown)
	host.do(func() { host.put(strange()); host.keeps = true })
	known := term.states.getOrCreate(cache.MetaObjectToName(set))
	known.objects.AddNameConflict(configMapKind, "web-1-conf")
	world := term.eventually(t, "the kind is refused", func(w plan.World) bool { return w.Kinds[configMapKind].Refused != "" })
	if kind := world.Kinds[configMapKind]; kind.Known || !strings.Contains(kind.Refused, "web-1-conf") {
		t.Errorf("the kind is %+v, want it not to be known, because web-1-conf may not be read", kind)
	}
	if next := known.objects.NextSync(); next == 0 {
		t.Error("nobody looks again whether it may be read, want that")
	}
	host.do(func() { host.keeps = false })
	term.eventually(t, "the name is looked at", func(w plan.World) bool { return isKnown(w) && w.Objects[confOf(1)] != nil })
}
