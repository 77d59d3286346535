//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// mostLogged is how often at most a server logs why it cannot read something, while a test runs.
const mostLogged = 5

// TestTheServerWorksWithoutOptionalRights takes the optional roles away, starts a server, and changes
// sets that need one of them. Then it gives the rights as the conditions say.
func TestTheServerWorksWithoutOptionalRights(t *testing.T) {
	w := shared(t)
	ns := w.Namespace(t, "security")
	nameless := harness.NewSet("nameless", 0)
	nameless.Spec.ServiceName = "missing"
	if got := w.warnings(t, w.server(), ns, nameless); !strings.Contains(got, "missing") {
		t.Errorf("warnings about a Service that does not exist, with all rights: got %q, want its name", got)
	}
	for name, set := range optionalSets() {
		w.create(t, ns, set)
		w.awaitReady(t, ns, name, 1)
	}
	w.lacks(t)
	give := w.takeOptionalRights(t)

	program := w.replica(t, "without-rights", nil)
	w.Start(t, program)
	if got := w.warnings(t, w.replicaURL(program), ns, nameless); got != "" {
		t.Errorf("warnings of a server that may not read Services: got %q, want none", got)
	}
	plain := harness.NewSet("plain", 1)
	w.create(t, ns, plain)
	w.awaitReady(t, ns, "plain", 1)
	for name, change := range map[string]string{
		"gates":    `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.test/main:2"}]}}}}`,
		"in-place": `{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"20m"}}}]}}}}`,
		"eviction": `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.test/main:2"}]}}}}`,
	} {
		w.patch(t, ns, name, change)
		w.awaitStalled(t, ns, name, func(c *v1.StatefulSetCondition) bool {
			return c != nil && c.Status == corev1.ConditionTrue && c.Reason == v1.ReasonMissingRight &&
				strings.Contains(c.Message, "kubectl apply -k artifacts/rights/"+name+",")
		})
	}
	if log := read(t, w.LogOf("without-rights")); strings.Count(log, "Failed to read Services") != 1 ||
		strings.Count(log, "services is forbidden") > mostLogged {
		t.Errorf("log: got %d lines that Services cannot be read and %d about the right, want one and at most %d",
			strings.Count(log, "Failed to read Services"), strings.Count(log, "services is forbidden"), mostLogged)
	}

	give()
	for name := range optionalSets() {
		w.patch(t, ns, name, `{"spec":{"minReadySeconds":1}}`) // a set that has changed is tried again at once
		w.awaitStalled(t, ns, name, func(c *v1.StatefulSetCondition) bool { return c == nil || c.Reason != v1.ReasonMissingRight })
	}
	harness.Eventually(t, "the server warns again when it has the right", func(context.Context) error {
		if got := w.warnings(t, w.replicaURL(program), ns, nameless); !strings.Contains(got, "missing") {
			return fmt.Errorf("got %q", got)
		}
		return nil
	})
}

// optionalSets need an optional right when they are updated, by the folder that has it.
func optionalSets() map[string]*v1.StatefulSet {
	gated, evicted, resized := harness.NewSet("gates", 1), harness.NewSet("eviction", 1), harness.NewSet("in-place", 1)
	gated.Spec.Disruption = &v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{
		{ConditionType: "example.com/asked", Operations: []v1.DisruptionOperationType{v1.UpdateDisruptionOperationType}}}}
	evicted.Spec.Disruption = &v1.StatefulSetDisruption{Method: v1.EvictDisruptionMethodType}
	resized.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{
		Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{
			InPlace: &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType}}}
	resized.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	return map[string]*v1.StatefulSet{"gates": gated, "eviction": evicted, "in-place": resized}
}

// takeOptionalRights removes the optional roles. The func that it returns applies them again.
func (w *world) takeOptionalRights(t *testing.T) (give func()) {
	t.Helper()
	folders := []string{"gates", "in-place", "eviction", "reads"}
	apply := func(ctx context.Context) error {
		for _, folder := range folders {
			out, err := exec.CommandContext(ctx, w.Path("kubectl"), "--kubeconfig", w.Path("kubeconfig"), "apply", "-k",
				"../../artifacts/rights/"+folder).CombinedOutput()
			if err != nil {
				return fmt.Errorf("applying %s: %w: %s", folder, err, out)
			}
		}
		return nil
	}
	t.Cleanup(func() { _ = apply(context.Background()) })
	for _, name := range []string{
		"statefulset-controller-gates", "statefulset-controller-in-place", "statefulset-controller-eviction", "statefulset-apiserver-reads"} {
		w.kubectl(t, "annotate", "clusterrolebinding", name, allowDelete+"=yes")
		w.kubectl(t, "delete", "clusterrolebinding", name)
	}
	return func() {
		t.Helper()
		if err := apply(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// warnings are those of a server when a set is created in a dry run.
func (w *world) warnings(t *testing.T, base, ns string, set *v1.StatefulSet) string {
	t.Helper()
	body, err := json.Marshal(set)
	if err != nil {
		t.Fatalf("encoding a set: %v", err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		base+"/apis/apps.statefulset.dev/v1/namespaces/"+ns+"/statefulsets?dryRun=All", bytes.NewReader(body))
	if err != nil {
		t.Fatalf("building a request: %v", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.asking.Do(request)
	if err != nil {
		t.Fatalf("creating a set in a dry run: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("creating a set in a dry run: got %s, want 201", response.Status)
	}
	return strings.Join(response.Header.Values("Warning"), "\n")
}

func (w *world) patch(t *testing.T, ns, name, change string) {
	t.Helper()
	if _, err := w.Sets.AppsV1().StatefulSets(ns).Patch(t.Context(), name, types.StrategicMergePatchType, []byte(change),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("changing set %s: %v", name, err)
	}
}

// awaitStalled waits until the condition Stalled of a set, nil if it has none, is as wanted.
func (w *world) awaitStalled(t *testing.T, ns, name string, wanted func(*v1.StatefulSetCondition) bool) {
	t.Helper()
	harness.Eventually(t, "set "+name+" says whether a right is missing", func(ctx context.Context) error {
		set, err := w.Sets.AppsV1().StatefulSets(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var stalled *v1.StatefulSetCondition
		for i := range set.Status.Conditions {
			if set.Status.Conditions[i].Type == v1.StatefulSetStalled {
				stalled = &set.Status.Conditions[i]
			}
		}
		if !wanted(stalled) {
			return fmt.Errorf("got %+v", stalled)
		}
		return nil
	})
}
