//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/harness"
)

// podsOf are the pods of a namespace by name and UID.
func podsOf(t *testing.T, ns string) []string {
	t.Helper()
	list, err := suite.Host.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	var all []string
	for _, pod := range list.Items {
		all = append(all, fmt.Sprintf("%s %s", pod.Name, pod.UID))
	}
	slices.Sort(all)
	return all
}

// podActions are the creations and removals of pods in a plan, in their order.
func podActions(p *v1.StatefulSetPlan) []string {
	var all []string
	for _, round := range p.Rounds {
		for _, step := range round.Steps {
			for _, action := range step.Actions {
				if action.Type == v1.PlanCreateMember || action.Type == v1.PlanDeletePod {
					all = append(all, fmt.Sprintf("%s %s", action.Type, action.Pod))
				}
			}
		}
	}
	return all
}

func TestPlanOfAnImageChangesNothing(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("web", 2))
	kubectl(t, "wait", "--for=condition=Ready", kind+"/web", "-n", ns, "--timeout=90s")
	sets, before := suite.Sets.AppsV1().StatefulSets(ns), podsOf(t, ns)

	now, err := sets.GetPlan(t.Context(), "web", metav1.GetOptions{})
	if err != nil || now.Outcome != v1.PlanConverged || len(podActions(now)) > 0 {
		t.Fatalf("plan of a set at rest: %+v, %v; want it to be converged", now, err)
	}
	proposal, err := sets.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	version := proposal.ResourceVersion
	proposal.Spec.Template.Spec.Containers[0].Image = "example.test/main:2"
	changed, err := sets.CreatePlan(t.Context(), "web", proposal, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking for the plan of an image: %v", err)
	}
	want := []string{"DeletePod web-1", "CreateMember web-1", "DeletePod web-0", "CreateMember web-0"}
	if got := podActions(changed); !slices.Equal(got, want) || changed.Outcome != v1.PlanConverged {
		t.Errorf("got %v and outcome %s (%s), want %v and converged", got, changed.Outcome, changed.Message, want)
	}
	scaled, err := sets.CreatePlanOfScale(t.Context(), "web", &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}},
		metav1.CreateOptions{})
	if err != nil || !slices.Equal(podActions(scaled), []string{"CreateMember web-2"}) {
		t.Errorf("plan of 3 replicas: %v, %v; want to create web-2", podActions(scaled), err)
	}
	if after := podsOf(t, ns); !slices.Equal(before, after) {
		t.Errorf("pods after asking for plans: got %v, want %v as before", after, before)
	}
	if set, err := sets.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || set.ResourceVersion != version {
		t.Errorf("set after asking for plans: version %s, %v; want %s as before", set.ResourceVersion, err, version)
	}
}

func TestPlanIsForThoseWhoMayAskForIt(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("web", 0))
	config := rest.CopyConfig(suite.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "nobody-in-particular", Groups: []string{"system:authenticated"}}
	stranger, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.AppsV1().StatefulSets(ns).GetPlan(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("GET by a user without a role: got %v, want forbidden", err)
	}
	if _, err := stranger.AppsV1().StatefulSets(ns).CreatePlan(t.Context(), "web", newSet("web", 1),
		metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("POST by a user without a role: got %v, want forbidden", err)
	}
	kubectl(t, "create", "rolebinding", "viewer", "-n", ns, "--clusterrole=view", "--user=nobody-in-particular")
	harness.Eventually(t, "a viewer may ask for the plan of a set as it is", func(ctx context.Context) error {
		_, err := stranger.AppsV1().StatefulSets(ns).GetPlan(ctx, "web", metav1.GetOptions{})
		return err
	})
	if _, err := stranger.AppsV1().StatefulSets(ns).CreatePlan(t.Context(), "web", newSet("web", 1),
		metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("POST by a viewer: got %v, want forbidden", err)
	}
	kubectl(t, "create", "rolebinding", "editor", "-n", ns, "--clusterrole=edit", "--user=nobody-in-particular")
	harness.Eventually(t, "an editor may ask for the plan of a proposed set", func(ctx context.Context) error {
		_, err := stranger.AppsV1().StatefulSets(ns).CreatePlan(ctx, "web", newSet("web", 1), metav1.CreateOptions{})
		return err
	})
}

func TestHoldKeepsTheControllerFromActing(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	held := newSet("web", 1)
	held.Annotations = map[string]string{v1.HoldAnnotation: "migration"}
	create(t, ns, held)
	kubectl(t, "wait", "--for=jsonpath={.status.conditions[?(@.type==\"Ready\")].reason}=Held", kind+"/web", "-n", ns, "--timeout=60s")
	kubectl(t, "patch", kind, "web", "-n", ns, "--subresource=status", "--type=merge", "-p",
		`{"status":{"currentRevision":"web-1","updateRevision":"web-2","collisionCount":3}}`)
	kubectl(t, "label", kind, "web", "-n", ns, "seen=again")
	if p, err := suite.Sets.AppsV1().StatefulSets(ns).GetPlan(t.Context(), "web", metav1.GetOptions{}); err != nil ||
		p.Outcome != v1.PlanHeld {
		t.Errorf("plan of a held set: %+v, %v; want held", p, err)
	}
	if pods := podsOf(t, ns); len(pods) > 0 {
		t.Errorf("got pods %v of a held set, want none", pods)
	}
	got := kubectl(t, "get", kind, "web", "-n", ns, "-o",
		"jsonpath={.status.currentRevision} {.status.updateRevision} {.status.collisionCount}")
	if want := "web-1 web-2 3"; got != want {
		t.Errorf("status of a held set: got %q, want %q as it was written", got, want)
	}
	kubectl(t, "annotate", kind, "web", "-n", ns, v1.HoldAnnotation+"-")
	kubectl(t, "wait", "--for=condition=Ready", kind+"/web", "-n", ns, "--timeout=90s")
}
