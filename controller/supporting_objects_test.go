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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
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
	// read are the names of objects that were read whole, and hides has that refused. keeps has each
	// read of one object refused.
	read         []string
	hides, keeps bool
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
		h.asked = append(h.asked, fmt.Sprintf("%s %s %s uid=%s version=%s %s", r.Method, name, r.Header.Get("Content-Type"), sent.GetUID(),
			sent.GetResourceVersion(), r.URL.RawQuery))
	}
	switch {
	case h.refuses, h.keeps && r.Method == http.MethodGet && name != "",
		h.hides && !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata"):
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
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.MergePatchType):
		h.annotate(stored, sent)
		_ = json.NewEncoder(w).Encode(about(h.objects[name]))
	case r.Method == http.MethodDelete:
		h.remove(w, name, body)
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
	return metav1.ManagedFieldsEntry{Manager: identity.ObjectManager, Operation: of, APIVersion: "v1",
		Time: &metav1.Time{Time: time.Unix(1, 0)}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func answer(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: string(reason)})
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
	events <- event1("BOOKMARK",
		&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
			ObjectMeta: metav1.ObjectMeta{
				ResourceVersion: fmt.Sprint(h.version), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}})
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
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "conf", Object: runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"a":"$(ORDINAL)"}}`)}}}
	for _, change := range change {
		change(set)
	}
	term, host := newTestTerm(t, set)
	host.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}}}
	served := &configMaps{objects: map[string]*unstructured.Unstructured{}, version: 10}
	server := httptest.NewServer(served)
	clients, err := objects.NewClients(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	term.config.Objects = clients
	term.objectWatcher = term.newObjectWatcher()
	t.Cleanup(server.Close)
	t.Cleanup(term.objectWatcher.Begin(t.Context())) // the context has ended by then
	return term, served, set
}

// eventually tries until something is so.
func (t *term) eventually(test *testing.T, what string, is func(plan.World) bool) plan.World {
	test.Helper()
	set, _ := get[*v1.StatefulSet](t.view, setsResource, "shop", "web")
	var world plan.World
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		world = plan.World{Set: set, Now: t.config.Clock.Now()}
		t.objectWatcher.Observe(test.Context(), &t.states.getOrCreate(cache.MetaObjectToName(set)).objects, &world)
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
	if done := term.execute(t.Context(), nil, set,
		plan.Plan{Finally: []action.Chain{{action.CreateObject{Template: "conf", Object: made}}}}); done.stopped != nil ||
		len(done.failures) > 0 {
		t.Fatalf("creating: stopped by %v, failures %v", done.stopped, done.failures)
	}
	world := term.eventually(t, "what was created is seen", func(w plan.World) bool { return w.Objects[confOf(0)] != nil && isKnown(w) })
	if found := world.Objects[confOf(0)]; found.Drifted || found.Annotations[v1.OwnerAnnotation] != "web/web-uid" ||
		found.Labels[v1.ObjectOrdinalLabel] != "0" {
		t.Errorf("what was created is seen as %+v, want the set's, as it was written", found)
	}
	change := action.ApplyObject{Template: "conf", At: targetOf(world.Objects[confOf(0)]), Object: made}
	if done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{change}}}); done.stopped != nil ||
		len(done.failures) > 0 {
		t.Fatalf("changing: stopped by %v, failures %v", done.stopped, done.failures)
	}
	if done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{change}}}); done.stopped == nil {
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
