// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	clientrest "k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// describing gives a set templates of ConfigMaps, of as many as are named.
func describing(names ...string) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		set.Spec.Replicas = new(int32(3))
		for _, name := range names {
			set.Spec.ObjectTemplates = append(set.Spec.ObjectTemplates, v1.ObjectTemplate{Name: name, Scope: v1.MemberObjectScope,
				Object: runtime.RawExtension{Raw: fmt.Appendf(nil,
					`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-%s"},"data":{"member":"$(ORDINAL)"}}`, name)}})
		}
	}
}

// objectNames are the names of the objects that were tried since the last call, in order.
func (h *answeringHost) objectNames() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, object := range h.tried {
		if of, is := object.(*unstructured.Unstructured); is {
			names = append(names, of.GetName())
		}
	}
	h.tried = nil
	slices.Sort(names)
	return names
}

func TestWhichObjectsAreTried(t *testing.T) {
	for sentence, test := range map[string]struct {
		old, set func(*v1.StatefulSet)
		want     []string
	}{
		"those of the first member and the last": {describing(), describing("conf"), []string{"web-0-conf", "web-2-conf"}},
		"those of a template that was added":     {describing("conf"), describing("conf", "more"), []string{"web-0-more", "web-2-more"}},
		"none if nothing is different":           {describing("conf"), describing("conf"), nil},
		"none if there are more members": {describing("conf"), func(set *v1.StatefulSet) {
			describing("conf")(set)
			set.Spec.Replicas = new(int32(9))
		}, nil},
		"one if there is one member": {describing(), func(set *v1.StatefulSet) {
			describing("conf")(set)
			set.Spec.Replicas = new(int32(1))
		}, []string{"web-0-conf"}},
		"that of the first member that there would be": {describing(), func(set *v1.StatefulSet) {
			describing("conf")(set)
			set.Spec.Replicas = new(int32(0))
		}, []string{"web-0-conf"}},
		"one of the set": {describing(), func(set *v1.StatefulSet) {
			describing("conf")(set)
			template := &set.Spec.ObjectTemplates[0]
			template.Scope, template.Object.Raw = v1.SetObjectScope,
				[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-conf"}}`)
		}, []string{"web-conf"}},
		"all if what all are made from is different": {describing("conf"), func(set *v1.StatefulSet) {
			describing("conf")(set)
			set.Spec.ServiceName = "other"
		}, []string{"web-0-conf", "web-2-conf"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := willing()
			admit := Preflight{Host: host}.AfterUpdate(rest.ValidateAllObjectUpdateFunc)
			if err := admit(t.Context(), settest.Changed(test.set), settest.Changed(test.old)); err != nil {
				t.Fatalf("got %v, want no error", err)
			}
			if got := host.objectNames(); !slices.Equal(got, test.want) {
				t.Errorf("tried on the host: got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhatIsFoundInAnObjectIsFoundInItsTemplate(t *testing.T) {
	invalid := invalidAt("data[x]")
	const at = "spec.objectTemplates[0].object"
	for sentence, test := range map[string]struct {
		answer   Answer
		errs     []string
		warnings []string
	}{
		"one that could not be created is refused, once": {
			Answer{Err: invalid}, []string{at + `.data[x]: Invalid value: "x": must be better`}, nil},
		"one that could not be changed is warned of": {Answer{Err: invalid, Exists: true}, nil, []string{
			at + ": ConfigMap web-0-conf could not be changed: " + at +
				`.data[x]: Invalid value: "x": must be better; if the field is immutable, delete the object so that it is recreated`,
			at + ": ConfigMap web-2-conf could not be changed: " + at +
				`.data[x]: Invalid value: "x": must be better; if the field is immutable, delete the object so that it is recreated`}},
		"one that the host has no opinion of is warned of": {Answer{Err: ErrBusy}, nil, []string{at + ": not checked: " + ErrBusy.Error()}},
		"warnings of the host are the set's":               {Answer{Warnings: []string{"data.x: is old"}}, nil, []string{at + ".data.x: is old"}},
		"one of somebody else is left alone":               {Answer{Exists: true}, nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := &answeringHost{answer: func(object runtime.Object) Answer {
				if _, is := object.(*unstructured.Unstructured); is {
					return test.answer
				}
				return Answer{}
			}}
			ctx, warnings := warningsOf(t.Context())
			err := Preflight{Host: host}.AfterCreate(rest.ValidateAllObjectFunc)(ctx, settest.Changed(describing("conf")))
			if got := settest.Causes(t, err); !slices.Equal(got, test.errs) {
				t.Errorf("errors: got %q, want %q", got, test.errs)
			}
			if !slices.Equal(warnings.texts, test.warnings) {
				t.Errorf("warnings: got %q, want %q", warnings.texts, test.warnings)
			}
		})
	}
}

func TestAtMostSixteenObjectsOfTemplatesAreTried(t *testing.T) {
	var names []string
	for i := range 32 {
		names = append(names, fmt.Sprint("conf", i))
	}
	host := willing()
	ctx, warnings := warningsOf(t.Context())
	if err := (Preflight{Host: host}).AfterCreate(rest.ValidateAllObjectFunc)(ctx, settest.Changed(describing(names...))); err != nil {
		t.Fatalf("got %v, want no error", err)
	}
	if got := len(host.objectNames()); got != mostObjects {
		t.Errorf("tried %d objects, want %d", got, mostObjects)
	}
	want := []string{
		"spec.objectTemplates[8].object to spec.objectTemplates[31].object: not checked: for one request at most 16 objects of templates are tried on the host cluster"}
	if !slices.Equal(warnings.texts, want) {
		t.Errorf("warnings: got %q, want %q", warnings.texts, want)
	}
}

// cupboard is a host with one ConfigMap, that notes what is asked for.
type cupboard struct {
	owner string
	asked []string
	sent  map[string]any
}

func (c *cupboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.asked = append(c.asked, r.Method+" "+r.URL.RequestURI())
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &c.sent)
		w.Header().Set("Warning", `299 - "data.x: is old"`)
		_, _ = w.Write(body)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/web-0-conf") {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound})
		return
	}
	_ = json.NewEncoder(w).Encode(
		metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
			ObjectMeta: metav1.ObjectMeta{Name: "web-0-conf", Namespace: "shop", Annotations: map[string]string{v1.OwnerAnnotation: c.owner}}})
}

func TestObjectsAreTriedAsTheControllerWouldMakeThem(t *testing.T) {
	const all, dry = "/api/v1/namespaces/shop/configmaps", "dryRun=All&fieldManager=statefulset-apiserver"
	for sentence, test := range map[string]struct {
		name, owner string
		asked       []string
		there       bool
		warnings    []string
	}{
		"one that is not there is created": {
			"web-1-conf", "", []string{"GET " + all + "/web-1-conf", "POST " + all + "?" + dry}, false, []string{"data.x: is old"}},
		"one of the set is changed": {"web-0-conf", "web/a",
			[]string{"GET " + all + "/web-0-conf", "PATCH " + all + "/web-0-conf?" + dry + "&force=true"}, true, []string{"data.x: is old"}},
		"one of an earlier set is changed": {"web-0-conf", "web/b",
			[]string{"GET " + all + "/web-0-conf", "PATCH " + all + "/web-0-conf?" + dry + "&force=true"}, true, []string{"data.x: is old"}},
		"one of another set is left alone":     {"web-0-conf", "other/a", []string{"GET " + all + "/web-0-conf"}, true, nil},
		"one of somebody else is left alone":   {"web-0-conf", "", []string{"GET " + all + "/web-0-conf"}, true, nil},
		"one of a like name is somebody's own": {"web-0-conf", "web-2/a", []string{"GET " + all + "/web-0-conf"}, true, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := &cupboard{owner: test.owner}
			server := httptest.NewServer(host)
			defer server.Close()
			runner, err := newDryRunner(&clientrest.Config{Host: server.URL}, "somebody-else",
				func(context.Context, schema.GroupVersionKind) ([]metav1.APIResource, error) {
					return []metav1.APIResource{{Name: "configmaps"}}, nil
				})
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{
				Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": test.name, "namespace": "shop",
					"annotations": map[string]any{v1.OwnerAnnotation: "web/a"}}}}
			answer := runner.TryCreate(t.Context(), object)
			if answer.Err != nil || answer.Exists != test.there || !slices.Equal(answer.Warnings, test.warnings) {
				t.Errorf("got the answer %+v, want that it is there: %t, and the warnings %q", answer, test.there, test.warnings)
			}
			if !slices.Equal(host.asked, test.asked) {
				t.Errorf("got the requests %q, want %q", host.asked, test.asked)
			}
		})
	}
}

func TestASecretIsTriedWithTextsOfTheLengthsThatAreDrawn(t *testing.T) {
	host := willing()
	set := settest.Changed(func(set *v1.StatefulSet) {
		set.Spec.ObjectTemplates = []v1.ObjectTemplate{
			{Name: "sst", Scope: v1.SetObjectScope, Generate: []v1.GeneratedKey{{Key: "password", Bytes: 3}},
				Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(SET)-sst"}}`)}}}
	})
	if err := (Preflight{Host: host}).AfterCreate(rest.ValidateAllObjectFunc)(t.Context(), set); err != nil {
		t.Fatalf("got %v, want no error", err)
	}
	at := slices.IndexFunc(host.tried, func(object runtime.Object) bool { _, is := object.(*unstructured.Unstructured); return is })
	secret := host.tried[at].(*unstructured.Unstructured)
	if got, want := secret.Object["data"], map[string]any{"password": "eHh4eA=="}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tried with %v, want %v", got, want)
	}
	if got := withoutGenerated(secret).Object["data"]; got != nil {
		t.Errorf("applied with %v, want nothing over what was drawn", got)
	}
}
