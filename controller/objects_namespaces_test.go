// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// inNamespaces is a host with ConfigMaps that may be watched in some namespaces and not in others. It notes which are
// watched.
type inNamespaces struct {
	mu sync.Mutex
	// state of a namespace: a list is answered if it is listed, refused if it is refused, and else not answered yet.
	listed, refused map[string]bool
	watched         map[string]int
	// created are the objects that were created, as namespace/name.
	created []string
}

func (h *inNamespaces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	namespace, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/")
	if strings.HasPrefix(r.URL.Path, "/api/v1/configmaps") {
		namespace = "all"
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost {
		var sent metav1.PartialObjectMetadata
		_ = json.NewDecoder(r.Body).Decode(&sent)
		h.do(func() { h.created = append(h.created, namespace+"/"+sent.Name) })
		answer(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
		return
	}
	h.do(func() { h.watched[namespace]++ })
	for {
		listed, refused := false, false
		h.do(func() { listed, refused = h.listed[namespace], h.refused[namespace] })
		switch {
		case refused:
			answer(w, http.StatusForbidden, metav1.StatusReasonForbidden)
			return
		case listed:
			_, _ = w.Write(event1("BOOKMARK", &metav1.PartialObjectMetadata{
				TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
				ObjectMeta: metav1.ObjectMeta{ResourceVersion: "10", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}},
			}))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (h *inNamespaces) do(what func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	what()
}

func (h *inNamespaces) watches(namespace string) (count int) {
	h.do(func() { count = h.watched[namespace] })
	return count
}

// describingIn is a set of a namespace that describes a ConfigMap of its own.
func describingIn(namespace string) *v1.StatefulSet {
	set := newSet("web")
	set.Namespace, set.UID = namespace, types.UID("web-uid-"+namespace)
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "conf", Scope: v1.SetObjectScope, Object: runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-conf"}}`)}}}
	return set
}

// newNamespacesTerm is a term that makes objects in some namespaces, with a set in each of others, and its host.
func newNamespacesTerm(t *testing.T, listed identity.ObjectNamespaces, namespaces ...string) (*term, *inNamespaces,
	map[string]*v1.StatefulSet) {
	t.Helper()
	sets := map[string]*v1.StatefulSet{}
	for _, namespace := range namespaces {
		sets[namespace] = describingIn(namespace)
	}
	term, host := newTestTerm(t, sets[namespaces[0]])
	for _, namespace := range namespaces[1:] {
		if err := term.view.put(setsResource, sets[namespace]); err != nil {
			t.Fatal(err)
		}
	}
	host.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}}}
	served := &inNamespaces{listed: map[string]bool{}, refused: map[string]bool{}, watched: map[string]int{}}
	server := httptest.NewServer(served)
	clients, err := objects.NewClients(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	term.config.Objects, term.config.ObjectNamespaces = clients, listed
	term.objectWatcher = term.newObjectWatcher()
	t.Cleanup(server.Close)
	t.Cleanup(term.objectWatcher.Begin(t.Context()))
	return term, served, sets
}

// actionKind is what a term knows of the ConfigMaps of a set.
func (t *term) kindOf(test *testing.T, set *v1.StatefulSet) plan.Kind {
	world := plan.World{Set: set, Now: t.config.Clock.Now()}
	t.objectWatcher.Observe(test.Context(), &t.states.getOrCreate(cache.MetaObjectToName(set)).objects, &world)
	return world.Kinds[configMapKind]
}

func (t *term) becomes(test *testing.T, set *v1.StatefulSet, what string, is func(plan.Kind) bool) {
	test.Helper()
	var got plan.Kind
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = t.kindOf(test, set); is(got) {
			return
		}
	}
	test.Fatalf("ConfigMaps in namespace %s: got %+v, want them %s", set.Namespace, got, what)
}

// syncNow observes a set, and carries out what is planned for it, whatever that comes to.
func (t *term) syncNow(test *testing.T, set *v1.StatefulSet) plan.Plan {
	test.Helper()
	world := t.view.world(set, t.config.Clock.Now())
	t.objectWatcher.Observe(test.Context(), &t.states.getOrCreate(cache.MetaObjectToName(set)).objects, &world)
	decided := plan.Compute(world)
	t.execute(test.Context(), nil, set, decided)
	// No informer runs in the test: without its revision in the view, the next sync would create it again.
	made, err := t.config.Host.AppsV1().ControllerRevisions(set.Namespace).List(test.Context(), metav1.ListOptions{})
	if err != nil {
		test.Fatal(err)
	}
	for i := range made.Items {
		if err := t.view.put(revisionsResource, &made.Items[i]); err != nil {
			test.Fatal(err)
		}
	}
	return decided
}

func known(k plan.Kind) bool { return k.Known }

// The first list of one namespace must not let objects be created in another one, where they may exist.
func TestAListOfOneNamespaceSaysNothingAboutAnother(t *testing.T) {
	term, host, sets := newNamespacesTerm(t, identity.ObjectNamespaces{"a", "b"}, "a", "b")
	host.do(func() { host.listed["a"] = true })
	term.becomes(t, sets["a"], "known", known)
	term.becomes(t, sets["b"], "watched", func(plan.Kind) bool { return host.watches("b") > 0 })
	term.syncNow(t, sets["b"])
	if got := term.kindOf(t, sets["b"]); got.Known || got.Refused != "" {
		t.Errorf("before its list, namespace b: got %+v, want it not known yet", got)
	}
	host.do(func() {
		if len(host.created) > 0 {
			t.Errorf("before the list of namespace b %q were created, want nothing", host.created)
		}
		host.listed["b"] = true
	})
	term.becomes(t, sets["b"], "known", known)
	term.syncNow(t, sets["b"])
	host.do(func() {
		if !slices.Contains(host.created, "b/web-conf") {
			t.Errorf("after the list of namespace b %q were created, want b/web-conf", host.created)
		}
		if host.watched["all"] > 0 {
			t.Error("all namespaces are watched, want a and b only")
		}
	})
}

// A namespace that does not exist yet, or has no role bound, is refused by the host.
func TestANamespaceThatIsRefusedHoldsUpNoOther(t *testing.T) {
	term, host, sets := newNamespacesTerm(t, identity.ObjectNamespaces{"a", "b"}, "a", "b")
	host.do(func() { host.listed["a"], host.refused["b"] = true, true })
	term.becomes(t, sets["b"], "refused", func(k plan.Kind) bool { return k.Refused != "" })
	term.becomes(t, sets["a"], "known", known)
	host.do(func() { host.listed["b"], host.refused["b"] = true, false })
	term.becomes(t, sets["b"], "known, after the namespace was created", known)
	host.do(func() {
		if got := host.watched["b"]; got > 20 {
			t.Errorf("namespace b was asked for %d times, want it retried with back-off", got)
		}
	})
}

func TestASetOutsideOfTheNamespacesKeepsWhatItHas(t *testing.T) {
	term, host, sets := newNamespacesTerm(t, identity.ObjectNamespaces{"a"}, "a", "c")
	host.do(func() { host.listed["a"] = true })
	term.becomes(t, sets["a"], "known", known)
	got := term.kindOf(t, sets["c"])
	for _, want := range []string{`--object-namespaces lists (a), and "c" is not one of them`, "existing objects stay",
		"list the namespace there and bind ClusterRole statefulset-controller-objects in it"} {
		if got.Known || !strings.Contains(got.Refused, want) {
			t.Errorf("ConfigMaps in namespace c: got %+v, want them refused with %q", got, want)
		}
	}
	stalled := v1.StatefulSetCondition{}
	for _, condition := range term.syncNow(t, sets["c"]).Status.Conditions {
		if condition.Type == v1.StatefulSetStalled {
			stalled = condition
		}
	}
	if stalled.Reason != v1.ReasonKindUnavailable || !strings.Contains(stalled.Message, "--object-namespaces") {
		t.Errorf("the set in namespace c: got condition %+v, want it stalled for %s, with the flag", stalled, v1.ReasonKindUnavailable)
	}
	host.do(func() {
		if len(host.created) > 0 || host.watched["c"] > 0 || host.watched["all"] > 0 {
			t.Errorf("created %q, watched %v, want nothing outside of namespace a", host.created, host.watched)
		}
	})
}

func TestAPlanOutsideOfTheNamespacesMakesNoObjects(t *testing.T) {
	set := describingIn("c")
	for sentence, test := range map[string]struct {
		namespaces identity.ObjectNamespaces
		want       bool
	}{
		"without the flag":       {nil, true},
		"in a listed namespace":  {identity.ObjectNamespaces{"c"}, true},
		"in a namespace outside": {identity.ObjectNamespaces{"a"}, false},
	} {
		world := plan.World{Set: set}
		if err := assumeObjects(t.Context(), &world, nil, test.namespaces); err != nil {
			t.Fatal(err)
		}
		if got := world.Kinds[configMapKind]; got.Known != test.want || (got.Refused == "") != test.want {
			t.Errorf("%s: got %+v, want known %t", sentence, got, test.want)
		}
	}
}
