//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// outlivesItsNode has a member that nobody asks to end, whatever becomes of its node, so that
// the cluster never removes it. It is on a node, if that is named.
func outlivesItsNode(t *testing.T, node string) func(*v1.StatefulSet) {
	avoid := leavesSoon(t)
	return func(made *v1.StatefulSet) {
		avoid(made)
		pod := &made.Spec.Template.Spec
		pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}
		if node != "" {
			pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{
				Weight: 100, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
				}},
			}}
		}
	}
}

// TestAMemberOfALostNodeIsGivenUp cuts a node off, which is no reason to give up what runs on it,
// and then its power, too.
func TestAMemberOfALostNodeIsGivenUp(t *testing.T) {
	forOurs(t, "a member of a node that is cut off is not given up by hand before somebody says that the node is off, and then comes back elsewhere, also without its disk", func(t *testing.T, k kind) {
		withDisk := newSet(t, k, 1, func(made *v1.StatefulSet) {
			withClaims("16Mi", "")(made)
			outlivesItsNode(t, "")(made)
		})
		lost := withDisk.pod(t, 0).Spec.NodeName
		without := newSet(t, k, 1, outlivesItsNode(t, lost))
		if got := without.pod(t, 0).Spec.NodeName; got != lost {
			t.Fatalf("the other member is on %s, want %s", got, lost)
		}
		node(t, "cut", lost)
		t.Cleanup(func() {
			node(t, "heal", lost)
			bring(t, lost)
		})
		harness.Eventually(t, "the node is missed", func(ctx context.Context) error {
			got, err := cluster.Host.CoreV1().Nodes().Get(ctx, lost, metav1.GetOptions{})
			if err == nil && slices.ContainsFunc(got.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) {
				err = errors.New("it is ready")
			}
			return err
		})
		for what, s := range map[string]*set{"with a disk": withDisk, "without one": without} {
			s.expectRefused(t, what, lost)
		}

		node(t, "stop", lost)
		taint(t, lost, `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","value":"nodeshutdown","effect":"NoExecute"}]}}`)
		why := "node " + lost + " is NotReady since "
		without.giveUp(t, lost, why)
		claim := withDisk.claim(t)
		withDisk.giveUp(t, lost, why, "--new-claims", "--yes")
		if got := withDisk.claim(t); got.UID == claim.UID {
			t.Errorf("its claim is the one of before, %s, want another", got.UID)
		}
		if got := withDisk.read(t, 0, "starts"); got != "1" {
			t.Errorf("it was started %s times on its disk, want once on a new one", got)
		}
	})
}

// TestAMemberOfANodeThatIsNoMore takes a node out of the cluster while it is off.
func TestAMemberOfANodeThatIsNoMore(t *testing.T) {
	forOurs(t, "a member of a node that was taken out of the cluster is given up by hand at once", func(t *testing.T, k kind) {
		s := newSet(t, k, 1, outlivesItsNode(t, ""))
		lost := s.pod(t, 0).Spec.NodeName
		node(t, "stop", lost)
		t.Cleanup(func() { bring(t, lost) })
		if err := cluster.Host.CoreV1().Nodes().Delete(t.Context(), lost, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting the node: %v", err)
		}
		s.giveUp(t, lost, "node "+lost+" does not exist any more\n")
	})
}

// expectRefused tries to give up the member of a set, whose node is cut off.
func (s *set) expectRefused(t *testing.T, what, lost string) {
	t.Helper()
	before := s.pod(t, 0)
	said, err := s.sts(t, "replace", "web-0", "--lost-node="+lost, "--new-claims", "--yes")
	want := ", but its pods may still be running; if it is permanently off: kubectl taint node " + lost +
		" node.kubernetes.io/out-of-service=nodeshutdown:NoExecute\n"
	if err == nil || !strings.HasPrefix(said, "error: nothing was changed: node "+lost+" is NotReady since ") ||
		!strings.HasSuffix(said, want) {
		t.Errorf("giving up a member %s: got %v and %q, want it refused, ending in %q", what, err, said, want)
	}
	after, err := cluster.Sets.AppsV1().StatefulSets(s.ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || len(after.Status.Replacements) > 0 {
		t.Errorf("a member %s: its set has %v, error %v, want nothing to be replaced", what, after.Status.Replacements, err)
	}
	if now := s.pod(t, 0); now.UID != before.UID || now.DeletionTimestamp != nil {
		t.Errorf("a member %s: its pod is %s, deleted at %v, want %s, which nobody has asked to end", what, now.UID, now.DeletionTimestamp,
			before.UID)
	}
}

// giveUp gives up the member of a set, whose node is off, for a reason, and waits until it is back.
func (s *set) giveUp(t *testing.T, lost, why string, flags ...string) {
	t.Helper()
	before := s.pod(t, 0)
	said, err := s.sts(t, append([]string{"replace", "web-0", "--lost-node=" + lost, "--wait", "--timeout=3m"}, flags...)...)
	for _, want := range []string{": pod web-0 is deleted although its node cannot confirm that it has terminated: " + why, ": web-0 is back\n"} {
		if err != nil || !strings.Contains(said, want) {
			t.Fatalf("giving up the member: got %v and\n%s\nwant %q in it", err, said, want)
		}
	}
	if now := s.pod(t, 0); now.UID == before.UID || now.Spec.NodeName == lost {
		t.Errorf("the member is pod %s on %s, want another than %s, and not on %s", now.UID, now.Spec.NodeName, before.UID, lost)
	}
}

// claim is that of the first member.
func (s *set) claim(t *testing.T) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim, err := cluster.Host.CoreV1().PersistentVolumeClaims(s.ns).Get(t.Context(), "data-web-0", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the claim: %v", err)
	}
	return claim
}
