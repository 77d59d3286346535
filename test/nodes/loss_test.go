//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// leavesSoon has a member asked to end as soon as its node is missed, and keeps it from the
// node that our server is on, which has its disk there.
func leavesSoon(t *testing.T) func(*v1.StatefulSet) {
	avoided := serverNode(t)
	return func(made *v1.StatefulSet) {
		pod := &made.Spec.Template.Spec
		for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
			pod.Tolerations = append(pod.Tolerations,
				corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(1))})
		}
		pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: []string{avoided}},
			}}},
		}}}
	}
}

func serverNode(t *testing.T) string {
	t.Helper()
	pods, err := cluster.Host.CoreV1().Pods("statefulset-system").List(t.Context(),
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=statefulset-apiserver"})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("looking for our server: got %d pods, error %v", len(pods.Items), err)
	}
	return pods.Items[0].Spec.NodeName
}

func TestALostNode(t *testing.T) {
	forBoth(t, "a member of a lost node is recreated when somebody says that the node is off", func(t *testing.T, k kind) {
		s := newSet(t, k, 1, leavesSoon(t))
		before := s.pod(t, 0)
		lost := before.Spec.NodeName
		node(t, "stop", lost)
		t.Cleanup(func() { bring(t, lost) })
		s.awaitPod(t, 0, "is asked to end", func(pod *corev1.Pod) error {
			if pod.DeletionTimestamp == nil {
				return errors.New("it is not")
			}
			return nil
		})
		if k.name == "ours" {
			harness.Eventually(t, "the set says what to do", func(ctx context.Context) error {
				said, err := s.says(ctx)
				if err == nil && !strings.Contains(said, "kubectl taint node "+lost+" "+corev1.TaintNodeOutOfService) {
					err = fmt.Errorf("it says %q", said)
				}
				return err
			})
		}
		if now := s.pod(t, 0); now.UID != before.UID {
			t.Errorf("member 0 is another pod (%s, not %s) before anybody said that its node is off: want the one that may still run", now.UID,
				before.UID)
		}
		taint(t, lost, `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","value":"nodeshutdown","effect":"NoExecute"}]}}`)
		after := s.awaitPod(t, 0, "is recreated", recreated(before))
		if after.Spec.NodeName == lost {
			t.Errorf("it runs on %s, which is off", lost)
		}
	})
}

// taint changes the taints of a node. The node lifecycle controller has some there, too, so
// ours are added.
func taint(t *testing.T, name, patch string) {
	t.Helper()
	_, err := cluster.Host.CoreV1().Nodes().Patch(context.WithoutCancel(t.Context()), name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("tainting %s: %v", name, err)
	}
}

// bring switches a node on again, and waits until pods can run there.
func bring(t *testing.T, name string) {
	t.Helper()
	node(t, "start", name)
	ctx := context.WithoutCancel(t.Context())
	if output, err := kubectl(ctx, "wait", "--for=create", "node/"+name, "--timeout=2m").CombinedOutput(); err != nil {
		t.Fatalf("waiting for node %s to be known: %v\n%s", name, err, output)
	}
	for {
		n, err := cluster.Host.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("getting node %s: %v", name, err)
		}
		var left []corev1.Taint
		for _, one := range n.Spec.Taints {
			if one.Key != corev1.TaintNodeOutOfService {
				left = append(left, one)
			}
		}
		n.Spec.Taints = left
		if _, err = cluster.Host.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{}); err == nil {
			break
		}
		if !apierrors.IsConflict(err) {
			t.Fatalf("saying that node %s is back: %v", name, err)
		}
	}
	if output, err := kubectl(ctx, "wait", "--for=condition=Ready", "node/"+name, "--timeout=2m").CombinedOutput(); err != nil {
		t.Fatalf("waiting for node %s: %v\n%s", name, err, output)
	}
}

func TestEvictionsRespectABudget(t *testing.T) {
	forBoth(t, "a budget lets one member be evicted, and the next when that one is back", func(t *testing.T, k kind) {
		s := newSet(t, k, 3, nil)
		one := intstr.FromInt32(1)
		_, err := cluster.Host.PolicyV1().PodDisruptionBudgets(s.ns).Create(t.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating a budget: %v", err)
		}
		evict := func(ctx context.Context, ordinal int) error {
			return cluster.Host.PolicyV1().Evictions(s.ns).Evict(ctx,
				&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, ordinal), Namespace: s.ns}})
		}
		before := s.pod(t, 2)
		harness.Eventually(t, "member 2 may be evicted", func(ctx context.Context) error { return evict(ctx, 2) })
		if err := evict(t.Context(), 1); !apierrors.IsTooManyRequests(err) {
			t.Errorf("evicting member 1 while member 2 is away: got %v, want it refused with 429", err)
		}
		s.awaitPod(t, 2, "is recreated", recreated(before))
		harness.Eventually(t, "member 1 may be evicted", func(ctx context.Context) error { return evict(ctx, 1) })
		s.awaitReady(t, 3)
	})
}

func TestAServerThatIsKilledInARollout(t *testing.T) {
	k := kinds()[0]
	passed := t.Run(k.name, func(t *testing.T) {
		s := newSet(t, k, 3, nil)
		before := []types.UID{s.pod(t, 0).UID, s.pod(t, 1).UID, s.pod(t, 2).UID}
		s.patch(t, `{"spec":{"template":{"metadata":{"annotations":{"rollout":"1"}}}}}`)
		s.killServer(t)
		s.awaitReady(t, 3)
		for i, uid := range before {
			if s.pod(t, i).UID == uid {
				t.Errorf("member %d was not updated", i)
			}
		}
	})
	results = append(results, result{"a rollout ends although our server is killed in it", k.name, !passed})
}

// killServer ends our server without notice, and waits until another one has taken its place.
func (s *set) killServer(t *testing.T) {
	t.Helper()
	now := int64(0)
	err := cluster.Host.CoreV1().Pods("statefulset-system").DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: &now},
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=statefulset-apiserver"})
	if err != nil {
		t.Fatalf("killing our server: %v", err)
	}
	harness.Eventually(t, "our server is back", func(ctx context.Context) error {
		_, err := s.get(ctx)
		return err
	})
}
