// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/client/clientset/versioned"
)

// repeating is a planner that repeats what it is asked for.
type repeating struct{}

func (repeating) Current(_ context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	return repeated("current", set, neighbours), nil
}

func (repeating) Turn(context.Context) (func(), error) { return func() {}, nil }

func (repeating) Proposed(_ context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	return repeated("proposed", set, neighbours), nil
}

// Members says that members 0 and 1 have pods, and serve.
func (repeating) Members(_ context.Context, _ *v1.StatefulSet, tell func(ordinal int, pod types.UID, revision string, serves bool)) error {
	tell(0, "pod-0", "", true)
	tell(1, "pod-1", "", true)
	return nil
}

func repeated(kind string, set *v1.StatefulSet, neighbours []v1.StatefulSet) *v1.StatefulSetPlan {
	return &v1.StatefulSetPlan{
		ObjectMeta: metav1.ObjectMeta{Name: set.Name, Namespace: set.Namespace, UID: set.UID},
		Outcome:    v1.PlanInProgress,
		Message: fmt.Sprintf("%s: %d replicas of %s, policy %s, generation %d, %d sets, replaces %v", kind, *set.Spec.Replicas,
			set.Spec.Template.Spec.Containers[0].Image, set.Spec.PodManagementPolicy, set.Generation, len(neighbours), set.Status.Replacements),
	}
}

func TestPlan(t *testing.T) {
	s := Start(t, func(c *apiserver.Config) { c.Planner = repeating{} })
	s.Create(t, Web("web"))
	s.Create(t, Web("other"))
	stored, err := s.Sets().Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(*v1.StatefulSet)) *v1.StatefulSet {
		set := Web("web")
		change(set)
		return set
	}
	for sentence, c := range map[string]struct {
		ask  func(sets *versioned.Clientset) (*v1.StatefulSetPlan, error)
		want string
	}{
		"the plan of a set as it is": {
			func(c *versioned.Clientset) (*v1.StatefulSetPlan, error) {
				return c.AppsV1().StatefulSets(Namespace).GetPlan(t.Context(), "web", metav1.GetOptions{})
			}, "current: 3 replicas of nginx:1, policy OrderedReady, generation 1, 2 sets"},
		"a proposed set gets its defaults and the next generation": {
			posting(t, "web", changed(func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = "nginx:2" })),
			"proposed: 3 replicas of nginx:2, policy OrderedReady, generation 2, 2 sets"},
		"a proposal that changes nothing is the same generation": {
			posting(t, "web", Web("web")), "proposed: 3 replicas of nginx:1, policy OrderedReady, generation 1, 2 sets"},
		"a proposed set that does not exist is a new one": {
			posting(t, "new", Web("new")), "proposed: 3 replicas of nginx:1, policy OrderedReady, generation 1, 3 sets"},
		"a proposed Scale changes the replicas": {
			scaling(t, "web", 7), "proposed: 7 replicas of nginx:1, policy OrderedReady, generation 2, 2 sets"},
		"a request to replace a member names the pod that would go": {
			replacing(t, "web", 1, true), "proposed: 3 replicas of nginx:1, policy OrderedReady, generation 1, 2 sets, replaces [{1 pod-1}]"},
		"a request to replace a member while another is unavailable is refused as the request is": {
			replacing(t, "web", 1, false), "other members are unavailable: web-2"},
		"a request to replace what is no member is refused by field": {
			replacing(t, "web", 3, true), "ordinals[0]: Invalid value: 3: set web has no member web-3; its members are 0 to 2"},
		"a request to replace no member is refused by field": {
			replacing(t, "web", -1, true), "ordinals[0].first: Invalid value: -1"},
		"a request to replace a member of a set that does not exist": {
			replacing(t, "new", 1, true), `error: statefulsets.apps.statefulset.dev "new" not found`},
		"an invalid set is refused by field": {
			posting(t, "web", changed(func(set *v1.StatefulSet) { set.Spec.Replicas = new(int32(-1)) })), "spec.replicas: Invalid value: -1"},
		"what cannot be changed is refused by field": {
			posting(t, "web", changed(func(set *v1.StatefulSet) {
				set.Spec.Selector.MatchLabels = map[string]string{"app": "nginx", "tier": "x"}
				set.Spec.Template.Labels["tier"] = "x"
			})), "spec.selector"},
		"an invalid new set is refused by field": {
			posting(t, "new", func() *v1.StatefulSet { set := Web("new"); set.Spec.Selector = nil; return set }()), "spec.selector: Required value"},
		"an invalid Scale is refused by field":  {scaling(t, "web", -1), "spec.replicas: Invalid value: -1"},
		"a Scale of a set that does not exist":  {scaling(t, "new", 1), `error: statefulsets.apps.statefulset.dev "new" not found`},
		"a set of another name than the path's": {posting(t, "web", Web("other")), `error: metadata.name is "other", must be "web" or empty`},
	} {
		for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			t.Run(sentence+" in "+encoding, func(t *testing.T) {
				config := rest.CopyConfig(s.Loopback)
				config.ContentType = encoding
				clients, err := versioned.NewForConfig(config)
				if err != nil {
					t.Fatal(err)
				}
				got := "error: "
				if plan, err := c.ask(clients); err != nil {
					got += reasonOf(err)
				} else {
					got = plan.Message
				}
				if !strings.Contains(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		}
	}
	list, err := s.Sets().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("got %d sets and error %v after asking for plans, want 2 as before", len(list.Items), err)
	}
	if now, err := s.Sets().Get(t.Context(), "web", metav1.GetOptions{}); err != nil || now.ResourceVersion != stored.ResourceVersion {
		t.Errorf("got version %s and error %v after asking for plans, want %s as before", now.ResourceVersion, err, stored.ResourceVersion)
	}
}

func posting(t *testing.T, name string, set *v1.StatefulSet) func(*versioned.Clientset) (*v1.StatefulSetPlan, error) {
	return func(c *versioned.Clientset) (*v1.StatefulSetPlan, error) {
		return c.AppsV1().StatefulSets(Namespace).CreatePlan(t.Context(), name, set, metav1.CreateOptions{})
	}
}

func scaling(t *testing.T, name string, replicas int32) func(*versioned.Clientset) (*v1.StatefulSetPlan, error) {
	scale := &autoscalingv1.Scale{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	return func(c *versioned.Clientset) (*v1.StatefulSetPlan, error) {
		return c.AppsV1().StatefulSets(Namespace).CreatePlanOfScale(t.Context(), name, scale, metav1.CreateOptions{})
	}
}

func replacing(t *testing.T, name string, ordinal int32, force bool) func(*versioned.Clientset) (*v1.StatefulSetPlan, error) {
	request := &v1.StatefulSetReplacement{Ordinals: []v1.OrdinalRange{{First: ordinal}}, Force: force}
	return func(c *versioned.Clientset) (*v1.StatefulSetPlan, error) {
		return c.AppsV1().StatefulSets(Namespace).PlanReplacement(t.Context(), name, request, metav1.CreateOptions{})
	}
}

// reasonOf is what an API error says, with the causes by field.
func reasonOf(err error) string {
	text := err.Error()
	if status, ok := err.(apierrors.APIStatus); ok && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			text += "\n" + cause.Field + ": " + cause.Message
		}
	}
	return text
}

func TestAPlanCanBePrinted(t *testing.T) {
	s := Start(t, func(c *apiserver.Config) { c.Planner = repeating{} })
	s.Create(t, Web("web"))
	raw, err := s.Clients.Discovery().RESTClient().Get().AbsPath("/apis/apps.statefulset.dev/v1/namespaces/default/statefulsets/web/plan").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw()
	if err != nil || !strings.Contains(string(raw), `"cells":["web","InProgress",0,"current: 3 replicas`) {
		t.Errorf("got %s and error %v, want a table", raw, err)
	}
}
