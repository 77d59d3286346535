//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// anEtcd has members be those of an etcd, whose leader is updated last.
func anEtcd(made *v1.StatefulSet) {
	withClaims("64Mi", "")(made)
	made.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{
		Order: &v1.UpdateOrder{Last: []metav1.LabelSelector{{MatchLabels: map[string]string{"role": "leader"}}}},
	}
	made.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(20))
	made.Spec.Template.Spec.Containers[0] = corev1.Container{
		Name: "etcd", Image: "localhost/etcd:dev", Command: []string{"/bin/sh", "/start.sh"},
		Env: []corev1.EnvVar{
			{Name: "MEMBERS", Value: "3"},
			// On a busy machine nobody is to be taken for dead but who is.
			{Name: "ETCD_HEARTBEAT_INTERVAL", Value: "500"}, {Name: "ETCD_ELECTION_TIMEOUT", Value: "10000"},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 2, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/readyz", Port: intstr.FromInt32(2379),
		}}},
	}
}

// TestAnEtcdChangesItsLeaderOnceInAnUpdate makes the member the leader that an update without an
// order would take first.
func TestAnEtcdChangesItsLeaderOnceInAnUpdate(t *testing.T) {
	forOurs(t, "an etcd of three whose sidecars label the leader changes it once in an update, which takes it last",
		func(t *testing.T, k kind) {
			s := newSetWithAgents(t, k, 3, role, anEtcd)
			s.etcdctl(t, "move-leader", fmt.Sprintf("%x", s.quorum(t).of("web-2").Member))
			s.awaitLeader(t, "web-2")
			before := s.quorum(t)
			if before.leader() != "web-2" {
				t.Fatalf("the leader is %s, want web-2, to which leadership was moved", before.leader())
			}
			pods := s.watchPods(t)
			s.patch(t, update)
			s.awaitReady(t, 3)
			pods.expect(t, recreations("web-1", "web-0", "web-2")...)
			after := s.quorum(t)
			if got := after.term() - before.term(); got > 1 || after.leader() == "web-2" {
				t.Errorf("the leader is %s after %d elections, want another one than web-2 after 1", after.leader(), got)
			}
			s.awaitLeader(t, after.leader())
		})
}

// etcdMember is what a member of an etcd says.
type etcdMember struct {
	name         string
	Member, Term uint64
	Leader       uint64
}

type quorum []etcdMember

func (q quorum) of(name string) etcdMember {
	return q[slices.IndexFunc(q, func(m etcdMember) bool { return m.name == name })]
}

func (q quorum) leader() string {
	for _, m := range q {
		if m.Member == m.Leader {
			return m.name
		}
	}
	return "nobody"
}

// term counts elections.
func (q quorum) term() (term uint64) {
	for _, m := range q {
		term = max(term, m.Term)
	}
	return term
}

// quorum asks the members until they agree on a leader.
func (s *set) quorum(t *testing.T) (found quorum) {
	t.Helper()
	harness.Eventually(t, "the members agree on a leader", func(context.Context) error {
		var answers []struct {
			Endpoint string
			Status   struct {
				Header struct {
					MemberID uint64 `json:"member_id"`
				}
				Leader   uint64
				RaftTerm uint64 `json:"raftTerm"`
			}
		}
		output := s.etcdctl(t, "endpoint", "status", "--write-out=json")
		if err := json.Unmarshal([]byte(output), &answers); err != nil {
			return fmt.Errorf("reading %q: %w", output, err)
		}
		found = nil
		for _, a := range answers {
			found = append(found, etcdMember{strings.TrimSuffix(strings.TrimPrefix(a.Endpoint, "http://"), ".web:2379"), a.Status.Header.MemberID,
				a.Status.RaftTerm, a.Status.Leader})
		}
		if len(found) != 3 || found[0].Leader == 0 || found[0].Leader != found[1].Leader || found[0].Leader != found[2].Leader {
			return fmt.Errorf("they say %+v", found)
		}
		return nil
	})
	return found
}

// etcdctl runs a command for all members, in one of them.
func (s *set) etcdctl(t *testing.T, args ...string) (output string) {
	t.Helper()
	command := append([]string{"exec", "web-0", "-n", s.ns, "-c", "etcd", "--", "/etcdctl",
		"--endpoints=http://web-0.web:2379,http://web-1.web:2379,http://web-2.web:2379"}, args...)
	harness.Eventually(t, "etcdctl "+strings.Join(args, " "), func(ctx context.Context) error {
		out, err := kubectl(ctx, command...).Output()
		output = string(out)
		return err
	})
	return output
}

// awaitLeader waits until one member has the label of the leader, and no other.
func (s *set) awaitLeader(t *testing.T, want string) {
	t.Helper()
	harness.Eventually(t, want+" alone is labelled as the leader", func(ctx context.Context) error {
		pods, err := cluster.Host.CoreV1().Pods(s.ns).List(ctx, metav1.ListOptions{LabelSelector: "role=leader"})
		if err == nil && (len(pods.Items) != 1 || pods.Items[0].Name != want) {
			err = fmt.Errorf("%d are", len(pods.Items))
		}
		return err
	})
}
