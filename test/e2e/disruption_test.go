//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

const handedOver = "example.com/handed-over"

// TestLifeOfTheExampleWithGates plays the agent of the example: it is asked before members are
// updated, answers to what nobody asks, answers, and sees a question withdrawn.
func TestLifeOfTheExampleWithGates(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/gates.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	updated := strings.Replace(string(content), "nginx-slim:0.24", "nginx-slim:0.25", 1)
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)

	mark := pods.mark()
	kubectlApply(t, updated, "-n", ns)
	waitAsked(t, ns, "db-2")
	waitReason(t, ns, v1.StatefulSetReady, v1.ReasonWaitingForGate,
		"the update of pod db-2 waits until example.com/handed-over is True on it with reason Request1")
	expectEvent(t, ns, "DisruptionRequested", `request the update (Request1) of pod "db-2" of set db`)
	answer(t, ns, "db-2", "Request7")
	waitAsked(t, ns, "db-2")
	pods.expect(t, mark)
	for _, name := range []string{"db-2", "db-1"} {
		waitAsked(t, ns, name)
		answer(t, ns, name, "Request1")
		pods.expect(t, mark, "deleted "+name, "added "+name)
		mark = pods.mark()
	}

	waitAsked(t, ns, "db-0")
	if said, err := tryPlugin(t, "migrate", "db", "--back", "--drop-extra-fields", "--dry-run", "-n", ns); err == nil ||
		!strings.Contains(said, "the gates of spec.disruption are requested for db-0") {
		t.Errorf("moving the set: got %q and %v, want it refused", said, err)
	}
	kubectl(t, "patch", "statefulsets.apps.statefulset.dev", "db", "-n", ns, "--type=merge", "-p",
		`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}}}}`)
	harness.Eventually(t, "what was asked is withdrawn", func(context.Context) error {
		pod := getPod(t, ns, "db-0")
		_, asked := pod.Annotations[v1.DisruptionAnnotation]
		if c := gateOf(pod); asked || c.Status != corev1.ConditionTrue || c.Reason != v1.ReasonGateNotRequested ||
			pod.Annotations[v1.DisruptionCountAnnotation] != "1" {
			return fmt.Errorf("the annotations are %v and the condition is %v", pod.Annotations, c)
		}
		return nil
	})
	waitReady(t, ns, "db", 3)
	pods.expect(t, mark)

	kubectl(t, "scale", "statefulsets.apps.statefulset.dev", "db", "--replicas=2", "-n", ns)
	waitAsked(t, ns, "db-2")
	answer(t, ns, "db-2", "Request1")
	pods.expect(t, mark, "deleted db-2")
	kubectl(t, "delete", "pod", "db-1", "-n", ns)
	pods.expect(t, mark, "deleted db-2", "deleted db-1", "added db-1")
	waitReady(t, ns, "db", 2)
}

// TestLifeOfTheExampleWithEvictions updates the example while its budget allows no eviction, and
// then allows it.
func TestLifeOfTheExampleWithEvictions(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/evict.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	allowDisruptions(t, ns, 0)

	mark := pods.mark()
	kubectl(t, "patch", "statefulsets.apps.statefulset.dev", "db", "-n", ns, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.k8s.io/nginx-slim:0.25"}]`)
	waitReason(t, ns, v1.StatefulSetReady, v1.ReasonDisruptionNotAllowed, noneAllowed)
	expectEvent(t, ns, "EvictionBlocked", `Could not evict pod "db-2" (update) of set db: Cannot evict pod`)
	pods.expect(t, mark)
	// Budgets count a member as disrupted for up to two minutes if it comes back so soon that they
	// have not seen it go.
	allowDisruptions(t, ns, 3)
	pods.expect(t, mark, "deleted db-2", "added db-2", "deleted db-1", "added db-1", "deleted db-0", "added db-0")
	waitReady(t, ns, "db", 3)

	kubectlApply(t, strings.NewReplacer("name: db\nspec:\n  maxUnavailable", "name: other\nspec:\n  maxUnavailable").Replace(string(content)),
		"-n", ns)
	kubectl(t, "scale", "statefulsets.apps.statefulset.dev", "db", "--replicas=2", "-n", ns)
	waitReason(t, ns, v1.StatefulSetStalled, v1.ReasonHostRefused, "This pod has more than one PodDisruptionBudget")
	kubectl(t, "delete", "pdb", "other", "-n", ns)
	waitReady(t, ns, "db", 2)
}

// noneAllowed is what a host says whose budget allows no disruption of the example.
const noneAllowed = "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget db needs 3 healthy pods and has 3 currently"

// allowDisruptions has the budget of the example allow so many of its members to be unavailable,
// while all are available.
func allowDisruptions(t *testing.T, ns string, most int32) {
	t.Helper()
	kubectl(t, "patch", "pdb", "db", "-n", ns, "--type=merge", "-p", fmt.Sprintf(`{"spec":{"maxUnavailable":%d}}`, most))
	harness.Eventually(t, "the budget is counted", func(ctx context.Context) error {
		budget, err := suite.Host.PolicyV1().PodDisruptionBudgets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if status := budget.Status; status.ObservedGeneration != budget.Generation || status.DisruptionsAllowed != most {
			return fmt.Errorf("the status is %+v, want %d to be allowed", status, most)
		}
		return nil
	})
}

// TestUpdatesInPlaceMindBudgets updates the example in place while its budget allows no eviction, and
// then allows it. The host is asked, and evicts nobody.
func TestUpdatesInPlaceMindBudgets(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/evict.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	inPlace := strings.Replace(string(content), "  disruption:\n",
		"  updateStrategy:\n    type: RollingUpdate\n    rollingUpdate:\n      inPlace:\n        policy: Only\n  disruption:\n", 1)
	kubectlApply(t, inPlace, "-n", ns)
	waitReady(t, ns, "db", 3)
	allowDisruptions(t, ns, 0)
	uids := podUIDs(t, ns)
	playContainers(t, ns)

	newer := strings.Replace(inPlace, "nginx-slim:0.24", "nginx-slim:0.25", 1)
	said, err := planCommand(t, ns, newer[strings.LastIndex(newer, "---\n"):], "-f", "-")
	if want := "update pod db-2 in place (image of db) as budgets allow"; err != nil || !strings.Contains(said, want) {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, want)
	}
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.k8s.io/nginx-slim:0.25"}]`)
	waitReason(t, ns, v1.StatefulSetReady, v1.ReasonDisruptionNotAllowed, noneAllowed)
	expectEvent(t, ns, "EvictionBlocked", `Could not update pod "db-2" in place of set db: Cannot evict pod`)
	expectInPlace(t, ns, uids, "registry.k8s.io/nginx-slim:0.24", "")

	allowDisruptions(t, ns, 1)
	waitReady(t, ns, "db", 3)
	expectInPlace(t, ns, uids, "registry.k8s.io/nginx-slim:0.25", "")
	budget, err := suite.Host.PolicyV1().PodDisruptionBudgets(ns).Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil || len(budget.Status.DisruptedPods) > 0 {
		t.Errorf("got the budget %+v and error %v, want none that counts a pod as evicted", budget, err)
	}
}

// waitAsked waits until the gate of a pod is asked for the first time.
func waitAsked(t *testing.T, ns, name string) {
	t.Helper()
	harness.Eventually(t, name+" is asked about", func(ctx context.Context) error {
		pod, err := suite.Host.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var asked struct{ ID int64 }
		text := pod.Annotations[v1.DisruptionAnnotation]
		if err := json.Unmarshal([]byte(text), &asked); err != nil {
			return fmt.Errorf("reading the annotation %q: %w", text, err)
		}
		if c := gateOf(pod); asked.ID != 1 || c.Status != corev1.ConditionFalse || c.Reason != v1.ReasonGateRequested {
			return fmt.Errorf("it is asked %s, and the condition is %v", text, c)
		}
		return nil
	})
}

// answer sets the condition that is the gate of the example.
func answer(t *testing.T, ns, name, reason string) {
	t.Helper()
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":"True","reason":%q}]}}`, handedOver, reason)
	if _, err := suite.Host.CoreV1().Pods(ns).Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{},
		"status"); err != nil {
		t.Fatalf("answering for %s: %v", name, err)
	}
}

func gateOf(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == handedOver {
			return c
		}
	}
	return corev1.PodCondition{}
}

// waitReason waits until a condition of the set db gives a reason, and says some words, of its
// present spec.
func waitReason(t *testing.T, ns string, kind v1.StatefulSetConditionType, reason, words string) (set *v1.StatefulSet) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s gives the reason %s", kind, reason), func(ctx context.Context) error {
		var err error
		if set, err = suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{}); err != nil {
			return err
		}
		if c := conditionOf(set, kind); c == nil || c.Reason != reason || !strings.Contains(c.Message, words) ||
			set.Status.ObservedGeneration != set.Generation {
			return fmt.Errorf("the conditions are %v, want %s with reason %s and %q", set.Status.Conditions, kind, reason, words)
		}
		return nil
	})
	return set
}
