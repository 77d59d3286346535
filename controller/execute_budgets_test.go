// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// notAllowed is the answer of a host whose budget does not let a pod be evicted.
func notAllowed() error {
	answer := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	answer.ErrStatus.Details.Causes = []metav1.StatusCause{
		{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget web needs 2 healthy pods and has 2 currently"}}
	return answer
}

// told are the writes to a host: a verb, the resource and the name, and whether it is a trial.
func told(host *fake.Clientset) (all []string) {
	for _, act := range writesTo(host) {
		resource := act.GetResource().Resource
		if act.GetSubresource() != "" {
			resource += "/" + act.GetSubresource()
		}
		text := fmt.Sprintf("%s %s %s", act.GetVerb(), resource, nameOf(act))
		if create, is := act.(clienttesting.CreateAction); is {
			if eviction,
				is := create.GetObject().(*policyv1.Eviction); is && slices.Equal(eviction.DeleteOptions.DryRun, []string{metav1.DryRunAll}) {
				text = "try to " + text
			}
		}
		all = append(all, text)
	}
	return all
}

func TestTheHostIsAskedBeforeAPodIsDisruptedInPlace(t *testing.T) {
	set := newSet("web")
	pod := newPod(set, 0)
	out := []corev1.PodCondition{{Type: v1.PodInService, Status: corev1.ConditionFalse, Reason: v1.ReasonDraining}}
	for sentence, test := range map[string]struct {
		action      action.Action
		wants, what string
	}{
		"an update": {action.UpdateInPlace{Pod: targetOf(pod), Images: map[string]string{"main": "main:2"}, AsBudgetsAllow: true},
			"patch pods web-0", `pod "web-0" in place`},
		"a resize": {action.ResizePod{Pod: targetOf(pod), Containers: map[string]corev1.ResourceRequirements{"main": {}}, AsBudgetsAllow: true},
			"patch pods/resize web-0", `resources of pod "web-0" in place`},
		"a drain": {action.SetPodConditions{Pod: targetOf(pod), Conditions: out, AsBudgetsAllow: true}, "patch pods/status web-0",
			`conditions of pod "web-0"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, pod)
			steps := plan.Plan{Chains: []action.Chain{{test.action}}}
			if done := term.execute(t.Context(), nil, set, steps); len(done.failures) > 0 ||
				!slices.Equal(told(host), []string{"try to create pods/eviction web-0", test.wants}) {
				t.Fatalf("got failures %v and writes %q, want a trial and %q", done.failures, told(host), test.wants)
			}
			if uid, version := preconditionsOf(t, writesTo(host)[0]); uid != pod.UID || version != pod.ResourceVersion {
				t.Errorf("the trial is bound to %q at %q, want %q at %q", uid, version, pod.UID, pod.ResourceVersion)
			}

			term, host = newTestTerm(t, set, pod)
			clock := clocktesting.NewFakeClock(time.Now())
			term.config.Clock = clock
			refuse(host, "create", "web-0", notAllowed())
			watchDeciding(t, term, notAllowed())
			clock.Step(time.Second)
			for try, delay := range []time.Duration{10 * time.Second, 20 * time.Second} {
				host.ClearActions()
				done := term.execute(t.Context(), nil, set, steps)
				if !slices.Equal(told(host), []string{"try to create pods/eviction web-0"}) || done.retryAfter != delay {
					t.Errorf("try %d: got writes %q and another after %s, want the trial alone and %s", try, told(host), done.retryAfter, delay)
				}
				event, want := summarized(done.events)[0], "Could not update "+test.what+" of set web: Cannot evict pod"
				if event.reason != v1.ReasonEvictionBlocked || !strings.HasPrefix(event.message(), want) {
					t.Errorf("try %d: got event %s %q, want %s and %q", try, event.reason, event.message(), v1.ReasonEvictionBlocked, want)
				}
				clock.Step(delay)
			}
		})
	}
}

// That the host would evict a pod uses up nothing of a budget.
func TestOnePodIsDisruptedInPlaceUntilBudgetsCanKnow(t *testing.T) {
	set := newSet("web")
	first, second, third := newPod(set, 0), newPod(set, 1), newPod(set, 2)
	update := func(pod *corev1.Pod) action.Chain {
		return action.Chain{action.UpdateInPlace{Pod: targetOf(pod), Images: map[string]string{"main": "main:2"}, AsBudgetsAllow: true}}
	}
	evict := action.Chain{action.DeletePod{Pod: targetOf(third), Reason: action.DeleteForUpdate, Evict: true}}
	term, host := newTestTerm(t, set, first, second, third)
	done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{update(first), update(second)}})
	if want := []string{"try to create pods/eviction web-0", "patch pods web-0"}; !slices.Equal(told(host), want) || !done.unfinished ||
		len(done.failures) > 0 {
		t.Errorf("two updates: got writes %q, failures %v, unfinished %t; want %q, and the rest in a later look", told(host), done.failures,
			done.unfinished, want)
	}

	host.ClearActions()
	refuse(host, "create", "web-0", notAllowed())
	done = term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{update(first), update(second)}})
	if want := []string{"try to create pods/eviction web-0", "try to create pods/eviction web-1",
		"patch pods web-1"}; !slices.Equal(told(host), want) || len(done.failures) != 1 {
		t.Errorf("where the first may not go: got writes %q and failures %v, want %q and that of the first", told(host), done.failures, want)
	}

	e := &execution{term: term, set: set}
	e.budgets.spent = true
	host.ClearActions()
	if err := e.carryOut(t.Context(), evict[0]); !errors.Is(err, errTurnOver) || len(told(host)) > 0 {
		t.Errorf("an eviction after that: got %v and writes %q, want it left to a later look", err, told(host))
	}
}

// A host that cannot say whether it would evict a pod may be told other things about pods.
func TestAFailedTrialHoldsUpNoOtherConditions(t *testing.T) {
	set := newSet("web")
	first, second := newPod(set, 0), newPod(set, 1)
	conditions := func(pod *corev1.Pod, asks bool) action.Chain {
		return action.Chain{
			action.SetPodConditions{Pod: targetOf(pod), Conditions: []corev1.PodCondition{{Type: v1.PodInService}}, AsBudgetsAllow: asks}}
	}
	term, host := newTestTerm(t, set, first, second)
	refuse(host, "create", "web-0", apierrors.NewInternalError(errors.New("this pod has more than one PodDisruptionBudget")))
	for range 3 {
		host.ClearActions()
		term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{conditions(first, true), conditions(second, false)}})
		if !slices.Contains(told(host), "patch pods/status web-1") {
			t.Errorf("got writes %q, want the condition of web-1 set", told(host))
		}
	}
}

// A trial says so to the host, and in the request, from which alone webhooks learn it.
func TestATrialEvictsNobody(t *testing.T) {
	var path, query string
	var body policyv1.Eviction
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, query = r.Method+" "+r.URL.Path, r.URL.RawQuery
		content, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(content, &body) != nil {
			t.Errorf("got the body %s and error %v, want an eviction", content, err)
		}
		w.Header().Set("Content-Type", "application/json")
		if _, err := io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`); err != nil {
			t.Errorf("answering: %v", err)
		}
	}))
	defer server.Close()
	host, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	pods := podsKind(host)
	if err := pods.tryEvictPod(t.Context(), "shop", action.Target{Name: "web-0", UID: "web-0-uid", ResourceVersion: "7"}); err != nil {
		t.Fatalf("trying: %v", err)
	}
	if path != "POST /api/v1/namespaces/shop/pods/web-0/eviction" || query != "dryRun=All" {
		t.Errorf("got %s with %q, want a dry run of an eviction", path, query)
	}
	options := body.DeleteOptions
	if body.APIVersion != "policy/v1" || options == nil || !slices.Equal(options.DryRun, []string{"All"}) ||
		*options.Preconditions.UID != "web-0-uid" || *options.Preconditions.ResourceVersion != "7" {
		t.Errorf("got %+v, want a dry run of the eviction of web-0-uid at 7", body)
	}
}
