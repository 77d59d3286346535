// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
)

// membersOnly is a planner that knows which members a set has, and makes no plans.
type membersOnly struct{}

func (membersOnly) Members(_ context.Context, _ *v1.StatefulSet,
	tell func(ordinal int, pod types.UID, revision string, serves bool)) error {
	tell(0, "a", "", true)
	return nil
}

func (membersOnly) Turn(context.Context) (func(), error) { return func() {}, nil }

func (membersOnly) Current(context.Context, *v1.StatefulSet, []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	return nil, errors.New("no plan")
}

func (membersOnly) Proposed(context.Context, *v1.StatefulSet, []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	return nil, errors.New("no plan")
}

// TestNoPathLeadsPastTheReview has a user who may do everything with sets and nothing else any more,
// and sends what could change objects to each path that a set is written at.
func TestNoPathLeadsPastTheReview(t *testing.T) {
	var mayMakeMaps, silent atomic.Bool
	mayMakeMaps.Store(true)
	server, _ := startVersionedHost(t).startOn(t, func(config *apiserver.Config) {
		config.Planner = membersOnly{}
		config.Generic.Authorization.Authorizer = authorizer.AuthorizerFunc(
			func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
				switch {
				case a.GetResource() != "configmaps" || mayMakeMaps.Load():
					return authorizer.DecisionAllow, "", nil
				case silent.Load():
					return authorizer.DecisionNoOpinion, "", errors.New("no answer")
				default:
					return authorizer.DecisionNoOpinion, "", nil
				}
			})
	})
	templates := func(suffix string) string {
		return fmt.Sprintf(`[{"name":"conf","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-%s"}}}]`, suffix)
	}
	set := servertest.Web("web")
	if err := json.Unmarshal([]byte(templates("old")), &set.Spec.ObjectTemplates); err != nil {
		t.Fatalf("reading templates: %v", err)
	}
	stored := server.Create(t, set)
	mayMakeMaps.Store(false)

	whole := func(change func(*v1.StatefulSet)) string {
		changed := stored.DeepCopy()
		changed.TypeMeta = metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind}
		changed.ManagedFields, changed.ResourceVersion = nil, ""
		change(changed)
		text, err := json.Marshal(changed)
		if err != nil {
			t.Fatalf("writing a set: %v", err)
		}
		return string(text)
	}
	other := func(s *v1.StatefulSet) {
		if err := json.Unmarshal([]byte(templates("new")), &s.Spec.ObjectTemplates); err != nil {
			t.Fatalf("reading templates: %v", err)
		}
	}
	fresh := func(s *v1.StatefulSet) {
		s.ObjectMeta = metav1.ObjectMeta{Name: "fresh", Namespace: servertest.Namespace}
	}
	patched := `{"spec":{"objectTemplates":` + templates("new") + `}}`
	scale := fmt.Sprintf(
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web","namespace":%q},"spec":{"replicas":3,"objectTemplates":%s}}`,
		servertest.Namespace, templates("new"))

	const refused = `user "system:apiserver" may not create "configmaps" in namespace "default"`
	for sentence, test := range map[string]struct {
		verb, path, kind, body string
		query                  string
		want                   string // of an error
	}{
		"a set that is created": {verb: http.MethodPost, body: whole(fresh), want: refused},
		"a set that is created with a drawn name": {
			verb: http.MethodPost, body: whole(func(s *v1.StatefulSet) { fresh(s); s.Name, s.GenerateName = "", "fresh-" }), want: refused},
		"a set that is created in a dry run": {verb: http.MethodPost, query: "All", body: whole(fresh), want: refused},
		"a set that is created by apply": {
			verb: http.MethodPatch, path: "fresh", kind: "application/apply-patch+yaml", body: whole(fresh), want: refused},
		"a set that is replaced":              {verb: http.MethodPut, path: "web", body: whole(other), want: refused},
		"a set that is replaced in a dry run": {verb: http.MethodPut, path: "web", query: "All", body: whole(other), want: refused},
		"a merge patch": {
			verb: http.MethodPatch, path: "web", kind: "application/merge-patch+json", body: patched, want: refused},
		"a strategic merge patch": {verb: http.MethodPatch, path: "web", kind: "application/strategic-merge-patch+json",
			body: `{"spec":{"identity":{"values":{"A":"b"}}}}`, want: refused},
		"a JSON patch": {verb: http.MethodPatch, path: "web", kind: "application/json-patch+json",
			body: `[{"op":"replace","path":"/spec/objectTemplates","value":` + templates("new") + `}]`, want: refused},
		"an apply": {verb: http.MethodPatch, path: "web", kind: "application/apply-patch+yaml", body: whole(other), want: refused},
		"another service": {
			verb: http.MethodPatch, path: "web", kind: "application/merge-patch+json", body: `{"spec":{"serviceName":"other"}}`, want: refused},

		"the same set": {verb: http.MethodPut, path: "web", body: whole(func(*v1.StatefulSet) {})},
		"an apply of the same set": {
			verb: http.MethodPatch, path: "web", kind: "application/apply-patch+yaml", body: whole(func(*v1.StatefulSet) {})},
		"a merge patch of something else": {
			verb: http.MethodPatch, path: "web", kind: "application/merge-patch+json", body: `{"spec":{"minReadySeconds":1}}`},
		"a status that is replaced":   {verb: http.MethodPut, path: "web/status", body: whole(other)},
		"a merge patch of the status": {verb: http.MethodPatch, path: "web/status", kind: "application/merge-patch+json", body: patched},
		"an apply of the status": {
			verb: http.MethodPatch, path: "web/status", kind: "application/apply-patch+yaml", body: whole(other)},
		"a scale that is replaced":     {verb: http.MethodPut, path: "web/scale", body: scale},
		"a merge patch of the scale":   {verb: http.MethodPatch, path: "web/scale", kind: "application/merge-patch+json", body: patched},
		"a set as the body of a scale": {verb: http.MethodPut, path: "web/scale", body: whole(other), want: "cannot be handled as a Scale"},
		"a request to replace a member": {
			verb: http.MethodPost, path: "web/replace",
			body: `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSetReplacement","ordinals":[{"first":0}],"force":true,"spec":{"objectTemplates":` + templates("new") + `}}`},
		"a decision about an update": {
			verb: http.MethodPost, path: "web/rollout",
			body: `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSetRollout","revision":"web-b","action":"Abort","spec":{"objectTemplates":` + templates("new") + `}}`, want: "cannot be fulfilled"},
		"a plan for a set that is proposed": {verb: http.MethodPost, path: "web/plan", body: whole(other), want: "no plan"},
	} {
		t.Run(sentence, func(t *testing.T) {
			client := server.Clients.AppsV1().RESTClient()
			request := client.Verb(test.verb).Namespace(servertest.Namespace).Resource("statefulsets").Suffix(test.path).Param("fieldManager",
				"test").SetHeader("Content-Type", "application/json").Body([]byte(test.body))
			if test.kind != "" {
				request.SetHeader("Content-Type", test.kind)
			}
			if strings.Contains(test.kind, "apply") {
				request.Param("force", "true")
			}
			if test.query != "" {
				request.Param("dryRun", test.query)
			}
			err := request.Do(t.Context()).Error()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
			sets, err := server.Sets().List(t.Context(), metav1.ListOptions{})
			if err != nil || len(sets.Items) != 1 {
				t.Fatalf("got %d sets and error %v, want the one that was there", len(sets.Items), err)
			}
			if got, want := sets.Items[0].Spec, stored.Spec; got.ServiceName != want.ServiceName ||
				plain(t, got.ObjectTemplates) != plain(t, want.ObjectTemplates) {
				t.Errorf("got templates %s and service %q, want %s and %q", plain(t, got.ObjectTemplates), got.ServiceName,
					plain(t, want.ObjectTemplates), want.ServiceName)
			}
		})
	}
	t.Run("a host that is silent", func(t *testing.T) {
		silent.Store(true)
		_, err := server.Sets().Patch(t.Context(), "web", types.MergePatchType, []byte(patched), metav1.PatchOptions{})
		if !apierrors.IsServiceUnavailable(err) {
			t.Errorf("got error %v, want one with code 503", err)
		}
	})
}

// plain are templates as JSON, with fields in one order.
func plain(t *testing.T, templates []v1.ObjectTemplate) string {
	t.Helper()
	var tree any
	text, err := json.Marshal(templates)
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err == nil {
		text, err = json.Marshal(tree)
	}
	if err != nil {
		t.Fatalf("writing templates: %v", err)
	}
	return string(text)
}
