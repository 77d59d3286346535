// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/client/clientset/versioned"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
)

// TestWhoDidItIsTheUserOfTheRequest sends requests as users who are impersonated, and who write the
// names of others wherever a client can write.
func TestWhoDidItIsTheUserOfTheRequest(t *testing.T) {
	s := Start(t, func(c *apiserver.Config) { c.Planner = staffed{} })
	s.Create(t, Web("web"))
	as := func(user string) typed.StatefulSetInterface {
		config := rest.CopyConfig(s.Loopback)
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
		clients, err := versioned.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return clients.AppsV1().StatefulSets(Namespace)
	}
	const forged = `"status":{"userActions":[{"action":"Restart","user":"eve","time":"2020-01-01T00:00:00Z"}]}`
	const restart = `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}},` + forged + `}`
	if _, err := as("ann").Patch(t.Context(), "web", types.MergePatchType, []byte(restart),
		metav1.PatchOptions{FieldManager: "eve"}); err != nil {
		t.Fatalf("restarting as ann: %v", err)
	}
	request := &v1.StatefulSetReplacement{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"user": "eve"}},
		Ordinals: []v1.OrdinalRange{{First: 2}}, LostNode: "node-1"}
	if _, err := as("bob").Replace(t.Context(), "web", request, metav1.CreateOptions{FieldManager: "eve"}); err != nil {
		t.Fatalf("replacing as bob: %v", err)
	}
	if _, err := as("bob").Patch(t.Context(), "web", types.MergePatchType, []byte(`{`+forged+`}`), metav1.PatchOptions{},
		"status"); err == nil || !strings.Contains(reasonOf(err), "status.userActions: Forbidden") {
		t.Errorf("naming eve in the status: got error %v, want it refused", err)
	}
	set, err := s.Sets().Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the set: %v", err)
	}
	got := map[v1.UserActionType]string{}
	for _, a := range set.Status.UserActions {
		got[a.Action] = a.User + " " + a.LostNode
	}
	if len(got) != 2 || got[v1.RestartUserAction] != "ann " || got[v1.ReplaceLostUserAction] != "bob node-1" {
		t.Errorf("the status names %v, want ann for the restart and bob for the replacement because of node-1", got)
	}
}
