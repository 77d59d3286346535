// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// annotate carries out a merge patch of annotations.
func (h *configMaps) annotate(stored, sent *unstructured.Unstructured) {
	changed, notes := stored.DeepCopy(), stored.GetAnnotations()
	patch, _, _ := unstructured.NestedMap(sent.Object, "metadata", "annotations")
	for key, value := range patch {
		delete(notes, key)
		if text, is := value.(string); is {
			notes[key] = text
		}
	}
	changed.SetAnnotations(notes)
	h.put(changed)
}

// remove deletes an object if it is the one that is named, and tells nobody who watches.
func (h *configMaps) remove(w http.ResponseWriter, name string, body []byte) {
	var options metav1.DeleteOptions
	_ = json.Unmarshal(body, &options)
	stored := h.objects[name]
	h.asked[len(h.asked)-1] = fmt.Sprintf("DELETE %s uid=%s version=%s %s", name, *options.Preconditions.UID,
		*options.Preconditions.ResourceVersion, *options.PropagationPolicy)
	if stored.GetUID() != *options.Preconditions.UID || stored.GetResourceVersion() != *options.Preconditions.ResourceVersion {
		answer(w, http.StatusConflict, metav1.StatusReasonConflict)
		return
	}
	delete(h.objects, name)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
}

// withConf is a term, its host, and the object of a member as the cache has it.
func withConf(t *testing.T, ordinal int) (*term, *configMaps, *v1.StatefulSet, *plan.Object) {
	t.Helper()
	term, host, set := newObjectTerm(t)
	term.eventually(t, "the kind is known", isKnown)
	templates, _ := identity.OverridesOf(set).Objects()
	made, _ := templates[0].Make(ordinal)
	if done := term.execute(t.Context(), nil, set,
		plan.Plan{Finally: []action.Chain{{action.CreateObject{Template: "conf", Object: made}}}}); done.stopped != nil ||
		len(done.failures) > 0 {
		t.Fatalf("creating: stopped by %v, failures %v", done.stopped, done.failures)
	}
	world := term.eventually(t, "what was created is seen", func(w plan.World) bool { return w.Objects[confOf(ordinal)] != nil && isKnown(w) })
	return term, host, set, world.Objects[confOf(ordinal)]
}

func TestObjectsAreDatedAndDeletedExactlyAsDecided(t *testing.T) {
	const ordinal = 3
	term, host, set, seen := withConf(t, ordinal)
	kind, since := configMapKind.WithVersion("v1"), time.Unix(1000, 0)
	mark := action.MarkObject{Ordinal: ordinal, Template: "conf", Kind: kind, At: targetOf(seen), As: action.ObjectRetired, Retired: since}
	if done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{mark}}}); done.stopped != nil ||
		len(done.failures) > 0 ||
		len(done.events) > 0 {
		t.Fatalf("marking: stopped by %v, failures %v, events %v", done.stopped, done.failures, done.events)
	}
	world := term.eventually(t, "the date is seen", func(w plan.World) bool {
		return isKnown(w) && w.Objects[confOf(ordinal)].Annotations[v1.RetiredAtAnnotation] == "1970-01-01T00:16:40Z"
	})
	seen = world.Objects[confOf(ordinal)]
	if seen.Drifted {
		t.Errorf("the date is taken for a change by %q", seen.DriftedBy)
	}
	if done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{mark}}}); done.stopped == nil {
		t.Errorf("marking it as it was before: stopped by nothing, failures %v, want it to be looked at again", done.failures)
	}
	remove := action.DeleteObject{Ordinal: ordinal, Template: "conf", Kind: kind, At: targetOf(seen), Retired: since, Due: since}
	done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{remove}}})
	if done.stopped != nil || len(done.failures) > 0 || len(done.events) != 1 || done.events[0].reason != "SuccessfulDelete" {
		t.Errorf("deleting: stopped by %v, failures %v, events %v", done.stopped, done.failures, done.events)
	}
	term.eventually(t, "what was deleted is taken to terminate, although the cache does not show it", func(w plan.World) bool {
		found := w.Objects[confOf(ordinal)]
		return isKnown(w) && found != nil && found.DeletionTimestamp != nil
	})
	want := []string{
		"PATCH web-3-conf application/merge-patch+json uid=web-3-conf-uid version=11 fieldManager=statefulset-apiserver",
		"PATCH web-3-conf application/merge-patch+json uid=web-3-conf-uid version=11 fieldManager=statefulset-apiserver",
		"DELETE web-3-conf uid=web-3-conf-uid version=12 Background",
	}
	host.do(func() {
		if got := host.asked[1:]; !slices.Equal(got, want) {
			t.Errorf("the host was asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestAnObjectIsDeletedOnlyAfterALiveLook has caches that say that the object may go.
func TestAnObjectIsDeletedOnlyAfterALiveLook(t *testing.T) {
	const ordinal = 3
	for sentence, test := range map[string]struct {
		pod  bool
		live func(*v1.StatefulSet)
		fail bool
		// due and ahead are as of claims.
		due, ahead time.Duration
		timeless   bool
		want       int
	}{
		"the set wants it, and the member has no pod": {want: 1},
		"the member has a pod":                        {pod: true},
		"the set has been changed":                    {live: func(set *v1.StatefulSet) { set.Generation++ }},
		"the set is another one":                      {live: func(set *v1.StatefulSet) { set.UID = "other" }},
		"the set is being deleted":                    {live: func(set *v1.StatefulSet) { set.DeletionTimestamp = new(metav1.Now()) }},
		"the set is held": {
			live: func(set *v1.StatefulSet) { set.Annotations = map[string]string{v1.HoldAnnotation: ""} }},
		"the host does not answer":                  {fail: true},
		"it is due by the host's clock alone":       {due: -time.Minute, ahead: 720 * time.Hour, want: 1},
		"it is due by the controller's clock alone": {due: time.Minute, ahead: -720 * time.Hour},
		"the host does not say what time it is":     {timeless: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host, set := newObjectTerm(t)
			pod := identity.Pod(set, &set.Spec.Template, "rev", ordinal)
			if test.live != nil {
				live := set.DeepCopy()
				test.live(live)
				term.config.Sets = setsfake.NewSimpleClientset(live)
			}
			if test.pod {
				if _, err := term.config.Host.CoreV1().Pods(set.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if test.fail {
				refuse(term.config.Host.(*fake.Clientset), "get", pod.Name, apierrors.NewInternalError(errors.New("no")))
			}
			term.eventually(t, "the kind is known", isKnown)
			made := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web-3-conf", "uid": "u", "resourceVersion": "9"}}}
			host.do(func() { host.objects["web-3-conf"] = made })
			due := livingAt(term, test.ahead, test.timeless).Add(test.due)
			done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{
				{action.DeleteObject{Ordinal: ordinal, Template: "conf", Kind: configMapKind.WithVersion("v1"), At: targetOf(made), Due: due}}}})
			host.do(func() {
				if got := len(host.asked); got != test.want {
					t.Errorf("got %d writes, want %d: %v", got, test.want, host.asked)
				}
			})
			failed, again := len(done.failures) > 0, isStaleRead(done.stopped)
			fails := test.fail || test.timeless
			if failed != fails || again != (test.want == 0 && !fails) {
				t.Errorf("got failures %v and error %v", done.failures, done.stopped)
			}
		})
	}
}
