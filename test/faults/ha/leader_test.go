//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/faults/store/load"
)

const (
	// killedWithin and stoppedWithin are what is promised: how long after the end of
	// a leader its successor writes to the host.
	killedWithin  = 15 * time.Second
	stoppedWithin = 3 * time.Second
	// churnPause is between two new sets, each of which makes a leader write.
	churnPause = 100 * time.Millisecond
	// auditPoll is how often the audit log is read, which has the times of all requests.
	auditPoll = 200 * time.Millisecond
	// wakeful is how long a leader that wakes up is looked at.
	wakeful = 5 * time.Second
)

// TestLeadership ends the leader of two replicas, and then of three, in every way.
func TestLeadership(t *testing.T) {
	f := newFleet(t)
	f.add()
	f.add()
	namespace, err := load.NewNamespace(t.Context(), f.lab.Host)
	if err != nil {
		t.Fatal(err)
	}
	two := f.lookForTwoLeaders()
	var killed, stopped []time.Duration
	for replicas := 2; replicas <= 3; replicas++ {
		for len(f.replicas) < replicas {
			f.add()
		}
		f.allServe(namespace)
		for range replicas - 1 {
			killed = append(killed, f.takeover(namespace, func(r *replica) { r.process.Kill(t) }))
			stopped = append(stopped, f.takeover(namespace, terminate(t)))
		}
	}
	report(t, "leader killed", killed, killedWithin)
	report(t, "leader stopped", stopped, stoppedWithin)
	f.freeze(namespace)
	if both := two(); both > 0 {
		t.Errorf("two replicas controlled at the same time: seen %d times, want never", both)
	}
	f.removeNamespace(namespace)
}

func terminate(t *testing.T) func(*replica) {
	return func(r *replica) {
		if err := syscall.Kill(r.process.PID(), syscall.SIGTERM); err != nil {
			t.Fatalf("stopping %s: %v", r.name, err)
		}
	}
}

func report(t *testing.T, fault string, took []time.Duration, within time.Duration) {
	t.Helper()
	longest, late := time.Duration(0), 0
	for _, d := range took {
		longest = max(longest, d)
		if d > within {
			late++
			t.Errorf("%s: a successor wrote to the host after %s, want at most %s", fault, d, within)
		}
	}
	t.Logf("%s: a successor wrote to the host after %v", fault, took)
	row.Report(t, row.Row{
		Fault: fault, Side: "ours", Where: "real", Runs: len(took), Violations: late,
		Detail: fmt.Sprintf("a successor wrote to the host after %.1f s at most", longest.Seconds()),
	})
}

// allServe writes through each replica, and reads that through each other.
func (f *fleet) allServe(namespace string) {
	f.t.Helper()
	for i, r := range f.replicas {
		set := newSet(fmt.Sprintf("served-by-%d-of-%d", i, len(f.replicas)))
		if _, err := r.sets.AppsV1().StatefulSets(namespace).Create(f.t.Context(), set, metav1.CreateOptions{}); err != nil {
			f.t.Errorf("creating a set through %s: %v", r.name, err)
			continue
		}
		for _, other := range f.replicas {
			if _, err := other.sets.AppsV1().StatefulSets(namespace).Get(f.t.Context(), set.Name, metav1.GetOptions{}); err != nil {
				f.t.Errorf("reading through %s a set that was created through %s: %v", other.name, r.name, err)
			}
		}
	}
}

// takeover ends the leader, measures how long it takes until another replica has
// written to the host, and starts the ended one again.
func (f *fleet) takeover(namespace string, end func(*replica)) time.Duration {
	f.t.Helper()
	leader, others := f.leader()
	f.balancer.remove(leader.address)
	began := time.Now()
	end(leader)
	stop := f.churn(namespace, others[0])
	took := f.firstWrite(others, began).Sub(began)
	stop()
	select {
	case <-leader.process.Exited():
	case <-time.After(grace):
		f.t.Fatalf("%s has not ended after %s", leader.name, grace)
	}
	f.start(leader)
	return took
}

// churn makes new sets until it is stopped.
func (f *fleet) churn(namespace string, through *replica) (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			// One that fails is one less; the next one is on its way.
			_, _ = through.sets.AppsV1().StatefulSets(namespace).Create(ctx, newSet(""), metav1.CreateOptions{})
			select {
			case <-ctx.Done():
			case <-time.After(churnPause):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// firstWrite waits until one of the replicas has written to the host after a moment,
// and returns when its request got there.
func (f *fleet) firstWrite(replicas []*replica, after time.Time) time.Time {
	f.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(auditPoll) {
		first := time.Time{}
		for _, r := range replicas {
			if writes := f.writesBy(r, after); len(writes) > 0 && (first.IsZero() || writes[0].RequestReceivedTimestamp.Time.Before(first)) {
				first = writes[0].RequestReceivedTimestamp.Time
			}
		}
		if !first.IsZero() {
			return first
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("no other replica has written to the host within %s", patience)
		}
	}
}

// freeze stops the leader while it works, until another replica has taken over, and
// then lets it go on.
func (f *fleet) freeze(namespace string) {
	f.t.Helper()
	leader, others := f.leader()
	began := time.Now()
	stop := f.churn(namespace, others[0])
	defer stop()
	f.firstWrite([]*replica{leader}, began)
	f.balancer.remove(leader.address)
	leader.process.Pause(f.t)
	frozen := time.Now()
	took := f.firstWrite(others, frozen).Sub(frozen)
	resumed := time.Now()
	leader.process.Resume(f.t)
	for time.Since(resumed) < wakeful {
		time.Sleep(poll)
	}
	late := f.writesBy(leader, resumed)
	for _, write := range late {
		f.t.Errorf("%s woke up and wrote %s after it: %s %s", leader.name, write.RequestReceivedTimestamp.Sub(resumed), write.Verb,
			write.RequestURI)
	}
	if err := leader.process.AwaitReady(f.t.Context()); err != nil {
		f.t.Errorf("%s after it woke up: %v", leader.name, err)
	}
	f.balancer.add(leader.address)
	row.Report(f.t, row.Row{
		Fault: "leader frozen beyond its lease", Side: "ours", Where: "real", Runs: 1, Violations: len(late),
		Detail: fmt.Sprintf("a successor wrote to the host after %.1f s, the woken one not at all", took.Seconds()),
	})
}

// lookForTwoLeaders asks all replicas again and again, and returns what ends that and
// says how often two controlled at the same time. A replica that controlled before
// another one was asked and after it did so meanwhile, too.
func (f *fleet) lookForTwoLeaders() (seen func() int) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan struct{})
	var both atomic.Int64
	replicas := f.replicas
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			a, b := replicas[0], replicas[1]
			if a.leads(ctx) && b.leads(ctx) && a.leads(ctx) {
				both.Add(1)
			}
			time.Sleep(poll)
		}
	}()
	return func() int {
		cancel()
		<-done
		return int(both.Load())
	}
}

func (f *fleet) removeNamespace(name string) {
	f.t.Helper()
	namespaces := f.lab.Host.CoreV1().Namespaces()
	if err := namespaces.Delete(f.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		f.t.Fatalf("removing namespace %s: %v", name, err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(poll) {
		if _, err := namespaces.Get(f.t.Context(), name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("namespace %s is still there after %s", name, patience)
		}
	}
}

// newSet is a set without members: the controller keeps a revision of it in the
// host. Without a name it is given one.
func newSet(name string) *v1.StatefulSet {
	labels := map[string]string{"app": "web"}
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, GenerateName: "web-"},
		Spec: v1.StatefulSetSpec{
			Replicas: new(int32),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main:1"}}},
			},
		},
	}
}
