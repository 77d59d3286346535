// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/client/clientset/versioned"
)

// staffed is a planner whose sets have three members that serve.
type staffed struct{ repeating }

func (staffed) Members(_ context.Context, _ *v1.StatefulSet, tell func(ordinal int, pod types.UID, revision string, serves bool)) error {
	for ordinal, uid := range []types.UID{"a", "b", "c"} {
		tell(ordinal, uid, "", true)
	}
	return nil
}

func TestReplace(t *testing.T) {
	s := Start(t, func(c *apiserver.Config) { c.Planner = staffed{} })
	s.Create(t, Web("web"))
	for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(encoding, func(t *testing.T) {
			config := rest.CopyConfig(s.Loopback)
			config.ContentType = encoding
			clients, err := versioned.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			ask := func(ordinal int32, options metav1.CreateOptions) (*v1.StatefulSetReplacement, error) {
				return clients.AppsV1().StatefulSets(Namespace).Replace(t.Context(), "web",
					&v1.StatefulSetReplacement{Ordinals: []v1.OrdinalRange{{First: ordinal}}}, options)
			}
			before := replacements(t, s)
			if _, err := ask(0, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil || !slices.Equal(replacements(t, s), before) {
				t.Errorf("in a dry run: got error %v, and the set names the pods %v, want %v as before", err, replacements(t, s), before)
			}
			answer, err := ask(2, metav1.CreateOptions{FieldManager: "bob"})
			if err != nil || answer.Name != "web" || len(answer.ManagedFields) > 0 {
				t.Fatalf("got %+v and error %v, want the name of the set and no managed fields", answer, err)
			}
			if got, want := replacements(t, s), []v1.MemberReplacement{{Ordinal: 2, PodUID: "c"}}; !slices.Equal(got, want) {
				t.Errorf("the set names the pods %v, want %v", got, want)
			}
			if _, err := ask(3, metav1.CreateOptions{}); err == nil ||
				!strings.Contains(reasonOf(err), "ordinals[0]: Invalid value: 3: set web has no member web-3; its members are 0 to 2") {
				t.Errorf("no member: got error %v, want it refused by field", err)
			}
		})
	}
}

func replacements(t *testing.T, s *Server) []v1.MemberReplacement {
	t.Helper()
	set, err := s.Sets().Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the set: %v", err)
	}
	return set.Status.Replacements
}
