// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/identity"
)

// TestNoPathLeadsToDeletionThatWasNotReviewed has a set with a template of Secrets that deletes nothing, and a
// user who may do everything but delete Secrets. The user swaps the template for one of ConfigMaps that deletes
// what it had, on each path that a set is written at. The status of the stored set, by which the controller
// deletes, must stay empty.
func TestNoPathLeadsToDeletionThatWasNotReviewed(t *testing.T) {
	var mayDelete atomic.Bool
	server, _ := startVersionedHost(t).startOn(t, func(config *apiserver.Config) {
		config.Planner = membersOnly{}
		config.Generic.Authorization.Authorizer = authorizer.AuthorizerFunc(
			func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
				if a.GetResource() == "secrets" && a.GetVerb() == "delete" && !mayDelete.Load() {
					return authorizer.DecisionNoOpinion, "", nil
				}
				return authorizer.DecisionAllow, "", nil
			})
	})
	templates := func(kind, retention string) string {
		return fmt.Sprintf(`[{"name":"auth",%s"object":{"apiVersion":"v1","kind":%q,"metadata":{"name":"$(IDENTITY)-auth"}}}]`, retention, kind)
	}
	read := func(text string) (all []v1.ObjectTemplate) {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("reading templates: %v", err)
		}
		return all
	}
	set := servertest.Web("web")
	set.Spec.ObjectTemplates = read(templates("Secret", ""))
	stored := server.Create(t, set)

	swapped := templates("ConfigMap", `"retention":{"whenScaled":"Delete"},`)
	whole := stored.DeepCopy()
	whole.TypeMeta = metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind}
	whole.ManagedFields, whole.ResourceVersion, whole.Spec.ObjectTemplates = nil, "", read(swapped)
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatalf("writing a set: %v", err)
	}
	patch := `{"spec":{"objectTemplates":` + swapped + `}}`
	status := `{"status":{"objectTemplates":[{"name":"auth","kind":"Secret","objectName":"$(IDENTITY)-auth","apiVersion":"v1","removedAt":"2026-01-01T00:00:00Z","retention":{"whenScaled":"Delete"}}]}}`
	const refused = `spec.objectTemplates[0].retention: Forbidden: template "auth" of Secret $(IDENTITY)-auth is replaced, and its objects would be deleted: ` +
		`user "system:apiserver" may not delete "secrets" in namespace "default"; to keep them, leave out whenScaled: Delete`
	send := func(verb, path, kind, body, dryRun string) error {
		request := server.Clients.AppsV1().RESTClient().Verb(verb).Namespace(servertest.Namespace).Resource("statefulsets").Suffix(path).
			Param("fieldManager", "test").SetHeader("Content-Type", kind).Body([]byte(body))
		if strings.Contains(kind, "apply") {
			request.Param("force", "true")
		}
		if dryRun != "" {
			request.Param("dryRun", dryRun)
		}
		return request.Do(t.Context()).Error()
	}
	plain, merge := "application/json", "application/merge-patch+json"
	for sentence, test := range map[string]struct{ verb, path, kind, body, dryRun, want string }{
		"a swap by replace is refused":                  {http.MethodPut, "web", plain, string(text), "", refused},
		"a swap by replace is refused in a dry run":     {http.MethodPut, "web", plain, string(text), "All", refused},
		"a swap by merge patch is refused":              {http.MethodPatch, "web", merge, patch, "", refused},
		"a swap by merge patch is refused in a dry run": {http.MethodPatch, "web", merge, patch, "All", refused},
		"a swap by JSON patch is refused": {http.MethodPatch, "web", "application/json-patch+json",
			`[{"op":"replace","path":"/spec/objectTemplates","value":` + swapped + `}]`, "", refused},
		"a swap by apply is refused": {
			http.MethodPatch, "web", "application/apply-patch+yaml", string(text), "", refused},
		"a swap in a proposal for a plan changes nothing":      {http.MethodPost, "web/plan", plain, string(text), "", "no plan"},
		"a swap in a status changes nothing":                   {http.MethodPatch, "web/status", merge, patch, "", ""},
		"a swap in a scale changes nothing":                    {http.MethodPatch, "web/scale", merge, patch, "", ""},
		"a removed template in a written spec changes nothing": {http.MethodPatch, "web", merge, status, "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if err := send(test.verb, test.path, test.kind, test.body, test.dryRun); (err == nil) != (test.want == "") ||
				err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
			found, err := server.Sets().Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Fatalf("reading the set: %v", err)
			}
			if removed := identity.RemovedTemplates(&found.Status); len(removed) > 0 || found.Spec.ObjectTemplates[0].Retention != nil {
				t.Errorf("to be deleted are %v, and the template has %v, want nothing and no retention", removed,
					found.Spec.ObjectTemplates[0].Retention)
			}
		})
	}
	t.Run("a swap by who may delete both is accepted, and noted", func(t *testing.T) {
		mayDelete.Store(true)
		if err := send(http.MethodPatch, "web", merge, patch, ""); err != nil {
			t.Fatalf("got error %v, want none", err)
		}
		found, err := server.Sets().Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatalf("reading the set: %v", err)
		}
		if removed := identity.RemovedTemplates(&found.Status); len(removed) != 1 || removed[0].Kind != "Secret" {
			t.Errorf("to be deleted are %v, want the Secrets", removed)
		}
	})
}
