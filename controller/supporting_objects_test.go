// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// configMaps is a host that has ConfigMaps only, and notes what it is asked.
type configMaps struct {
	mu      sync.Mutex
	refuses bool
	version int
	objects map[string]*unstructured.Unstructured
	watches []chan []byte
	asked   []string
	// read are the names of objects that were read whole, and hides has that refused.
	read  []string
	hides bool
}

func (h *configMaps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/shop/configmaps"), "/")
	body, _ := io.ReadAll(r.Body)
	sent := &unstructured.Unstructured{}
	_ = sent.UnmarshalJSON(body)
	w.Header().Set("Content-Type", "application/json")
	stored := h.objects[name]
	if r.Method != http.MethodGet {
		h.asked = append(h.asked, fmt.Sprintf("%s %s %s uid=%s version=%s %s", r.Method, name, r.Header.Get("Content-Type"), sent.GetUID(), sent.GetResourceVersion(), r.URL.RawQuery))
	}
	switch {
	case h.refuses, h.hides && !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata"):
		answer(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case r.URL.Query().Get("watch") != "":
		h.stream(w, r)
	case r.Method == http.MethodPost && h.objects[sent.GetName()] != nil:
		answer(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
	case r.Method == http.MethodPost:
		sent.SetUID(types.UID(sent.GetName() + "-uid"))
		sent.SetManagedFields([]metav1.ManagedFieldsEntry{entry(metav1.ManagedFieldsOperationUpdate, `{"f:data":{".":{},"f:a":{}}}`)})
		h.put(sent)
		_ = json.NewEncoder(w).Encode(sent)
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.JSONPatchType):
		taken := stored.DeepCopy()
		taken.SetManagedFields([]metav1.ManagedFieldsEntry{entry(metav1.ManagedFieldsOperationApply, `{"f:data":{"f:a":{}}}`)})
		h.put(taken)
		_ = json.NewEncoder(w).Encode(taken)
	case r.Method == http.MethodPatch && (stored.GetUID() != sent.GetUID() || stored.GetResourceVersion() != sent.GetResourceVersion()):
		answer(w, http.StatusConflict, metav1.StatusReasonConflict)
	case r.Method == http.MethodPatch:
		sent.SetManagedFields([]metav1.ManagedFieldsEntry{entry(metav1.ManagedFieldsOperationApply, `{"f:data":{"f:b":{}}}`)})
		h.put(sent)
		_ = json.NewEncoder(w).Encode(sent)
	case stored == nil:
		answer(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata"):
		h.read = append(h.read, name)
		_ = json.NewEncoder(w).Encode(stored)
	default:
		_ = json.NewEncoder(w).Encode(about(stored))
	}
}

func entry(of metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: objectManager, Operation: of, APIVersion: "v1", Time: &metav1.Time{Time: time.Unix(1, 0)}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func answer(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: string(reason)})
}

func about(object *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	shown := &metav1.PartialObjectMetadata{}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, shown)
	shown.TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}
	return shown
}

// put stores an object, and tells who watches.
func (h *configMaps) put(object *unstructured.Unstructured) {
	h.version++
	object.SetResourceVersion(fmt.Sprint(h.version))
	object.SetNamespace("shop")
	kind := "MODIFIED"
	if h.objects[object.GetName()] == nil {
		kind = "ADDED"
	}
	h.objects[object.GetName()] = object
	if object.GetLabels()[v1.ObjectSetLabel] == "" {
		return
	}
	for _, watch := range h.watches {
		watch <- event1(kind, about(object))
	}
}

func event1(kind string, object any) []byte {
	line, _ := json.Marshal(map[string]any{"type": kind, "object": object})
	return append(line, '\n')
}

// stream answers a watch: what there is first.
func (h *configMaps) stream(w http.ResponseWriter, r *http.Request) {
	events := make(chan []byte, 1000)
	for _, object := range h.objects {
		if object.GetLabels()[v1.ObjectSetLabel] != "" {
			events <- event1("ADDED", about(object))
		}
	}
	events <- event1("BOOKMARK", &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: fmt.Sprint(h.version), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}})
	h.watches = append(h.watches, events)
	h.mu.Unlock()
	defer h.mu.Lock()
	for {
		select {
		case <-r.Context().Done():
			return
		case line := <-events:
			_, _ = w.Write(line)
			w.(http.Flusher).Flush()
		}
	}
}

func (h *configMaps) do(what func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	what()
}

// newObjectTerm is a term with a set that describes a ConfigMap of each member, and the host that
// has them.
func newObjectTerm(t *testing.T, change ...func(*v1.StatefulSet)) (*term, *configMaps, *v1.StatefulSet) {
	t.Helper()
	set := newSet("web")
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "conf", Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"a":"$(ORDINAL)"}}`)}}}
	for _, change := range change {
		change(set)
	}
	term, host := newTestTerm(t, set)
	host.Resources = []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}}}
	served := &configMaps{objects: map[string]*unstructured.Unstructured{}, version: 10}
	server := httptest.NewServer(served)
	clients, err := NewObjectClients(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	term.Objects = clients
	t.Cleanup(server.Close)
	t.Cleanup(term.objects.begin(t.Context())) // the context has ended by then
	return term, served, set
}

// eventually tries until something is so.
func (t *term) eventually(test *testing.T, what string, is func(plan.World) bool) plan.World {
	test.Helper()
	set, _ := get[*v1.StatefulSet](t.view, setsResource, "shop", "web")
	var world plan.World
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		world = plan.World{Set: set, Now: t.Clock.Now()}
		if err := t.observeObjects(test.Context(), t.memory.of(cache.MetaObjectToName(set)), &world); err != nil {
			test.Fatalf("observing objects: %v", err)
		}
		if is(world) {
			return world
		}
	}
	test.Fatalf("%s: the world has %v and %v", what, world.Kinds, world.Objects)
	return world
}

var configMapKind = schema.GroupKind{Kind: "ConfigMap"}

func isKnown(w plan.World) bool { return w.Kinds[configMapKind].Known }

func confOf(ordinal int) identity.ObjectKey {
	return identity.ObjectKey{Kind: "ConfigMap", Name: fmt.Sprintf("web-%d-conf", ordinal)}
}

func TestAKindThatIsRefusedIsKnownWhenItIsNotAnyMore(t *testing.T) {
	term, host, _ := newObjectTerm(t)
	host.do(func() { host.refuses = true })
	term.eventually(t, "the kind is refused", func(w plan.World) bool { return w.Kinds[configMapKind].Refused != "" })
	if err := term.ready(); err == nil || strings.Contains(err.Error(), "configmaps") {
		t.Errorf("the controller waits for %v, want what it has always waited for", err)
	}
	host.do(func() { host.refuses = false })
	term.eventually(t, "the kind is known", isKnown)
}

func TestObjectsAreCreatedAndChangedExactlyAsDecided(t *testing.T) {
	term, host, set := newObjectTerm(t)
	term.eventually(t, "the kind is known", isKnown)
	templates, _ := identity.OverridesOf(set).Objects()
	made, _ := templates[0].Make(0)
	if done := term.execute(t.Context(), nil, set, plan.Plan{Aside: []plan.Chain{{plan.CreateObject{Template: "conf", Object: made}}}}); done.stopped != nil || len(done.failures) > 0 {
		t.Fatalf("creating: stopped by %v, failures %v", done.stopped, done.failures)
	}
	world := term.eventually(t, "what was created is seen", func(w plan.World) bool { return w.Objects[confOf(0)] != nil && isKnown(w) })
	if found := world.Objects[confOf(0)]; found.Drifted || found.Annotations[v1.OwnerAnnotation] != "web/web-uid" || found.Labels[v1.ObjectOrdinalLabel] != "0" {
		t.Errorf("what was created is seen as %+v, want the set's, as it was written", found)
	}
	change := plan.ApplyObject{Template: "conf", At: targetOf(world.Objects[confOf(0)]), Object: made}
	if done := term.execute(t.Context(), nil, set, plan.Plan{Aside: []plan.Chain{{change}}}); done.stopped != nil || len(done.failures) > 0 {
		t.Fatalf("changing: stopped by %v, failures %v", done.stopped, done.failures)
	}
	if done := term.execute(t.Context(), nil, set, plan.Plan{Aside: []plan.Chain{{change}}}); done.stopped == nil {
		t.Errorf("changing it as it was before: stopped by nothing, failures %v, want it to be looked at again", done.failures)
	}
	want := []string{
		"POST  application/json uid= version= fieldManager=statefulset-apiserver",
		"PATCH web-0-conf application/json-patch+json uid= version= ",
		"PATCH web-0-conf application/apply-patch+yaml uid=web-0-conf-uid version=12 fieldManager=statefulset-apiserver&force=true",
	}
	if got := strings.Join(host.asked, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the host was asked\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestANameThatIsTakenIsLookedAt(t *testing.T) {
	term, host, set := newObjectTerm(t)
	term.eventually(t, "the kind is known", isKnown)
	stranger := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web-1-conf", "uid": "other"}}}
	host.do(func() { host.put(stranger) })
	templates, _ := identity.OverridesOf(set).Objects()
	made, _ := templates[0].Make(1)
	done := term.execute(t.Context(), nil, set, plan.Plan{Aside: []plan.Chain{{plan.CreateObject{Ordinal: 1, Template: "conf", Object: made}}}})
	if done.stopped == nil || len(done.failures) > 0 {
		t.Errorf("creating what there is: stopped by %v, failures %v, want it to be looked at again", done.stopped, done.failures)
	}
	world := term.eventually(t, "the stranger is seen", func(w plan.World) bool { return w.Objects[confOf(1)] != nil })
	if found := world.Objects[confOf(1)]; found.UID != "other" || found.OwnerLives || term.memory.of(cache.MetaObjectToName(set)).nextLookAtObjects() == 0 {
		t.Errorf("the stranger is seen as %+v, want it as it is, and to be looked at again", found)
	}
	without := set.DeepCopy()
	without.Generation, without.Spec.ObjectTemplates = 2, nil
	if err := term.view[setsResource].Update(without); err != nil {
		t.Fatal(err)
	}
	term.eventually(t, "nothing is described any more", func(w plan.World) bool { return w.Objects == nil })
	if next := term.memory.of(cache.MetaObjectToName(set)).nextLookAtObjects(); next != 0 {
		t.Errorf("a set that describes nothing is looked at again in %s, want never", next)
	}
}

func TestWhoHasChangedAnObjectIsTold(t *testing.T) {
	ours, theirs, status := entry(metav1.ManagedFieldsOperationApply, `{"f:data":{}}`), entry(metav1.ManagedFieldsOperationUpdate, `{"f:x":{}}`), entry(metav1.ManagedFieldsOperationUpdate, `{}`)
	theirs.Manager, theirs.Time = "kubectl-edit", &metav1.Time{Time: time.Unix(2, 0)}
	status.Manager, status.Subresource, status.Time = "kubelet", "status", &metav1.Time{Time: time.Unix(3, 0)}
	same := theirs
	same.Time = ours.Time
	earlier := theirs
	earlier.Time = &metav1.Time{Time: time.Unix(0, 0)}
	for sentence, test := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		later   bool
	}{
		"nobody, if all is ours":                         {[]metav1.ManagedFieldsEntry{ours}, false},
		"nobody, if others have written before":          {[]metav1.ManagedFieldsEntry{ours, earlier}, false},
		"nobody, by a status":                            {[]metav1.ManagedFieldsEntry{ours, status}, false},
		"who has written after us":                       {[]metav1.ManagedFieldsEntry{ours, earlier, theirs}, true},
		"who has written in the second in which we have": {[]metav1.ManagedFieldsEntry{ours, same}, true},
		"nobody, if nothing is ours":                     {[]metav1.ManagedFieldsEntry{theirs}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, by, later := managed(test.entries); later != test.later || later && by != "kubectl-edit" {
				t.Errorf("got %q, later %t, want later %t", by, later, test.later)
			}
		})
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
			stranger := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web-1-conf", "uid": "other"}}}
			host.do(func() { host.put(stranger) })
			set.Status.ObjectTemplates = []v1.ObjectTemplateStatus{{Name: "conf", Kind: "ConfigMap", Foreign: test.foreign}}
			world := plan.World{}
			for end := time.Now().Add(20 * time.Second); !isKnown(world) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				world = plan.World{Set: set, Now: term.Clock.Now(), Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: test.pod}}}}
				if err := term.observeObjects(t.Context(), term.memory.of(cache.MetaObjectToName(set)), &world); err != nil {
					t.Fatalf("observing objects: %v", err)
				}
			}
			if got := world.Objects[confOf(1)] != nil; !isKnown(world) || got != test.want {
				t.Errorf("known %t, and the object of somebody else is seen: %t, want %t", isKnown(world), got, test.want)
			}
		})
	}
}
