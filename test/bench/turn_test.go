//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/bench/measure"
	"statefulset.dev/test/harness/lab"
)

// benchCase is one thing that sides are compared in.
type benchCase struct {
	name, title string
	sides       []side
	// results are what it measures, without samples.
	results []measure.Result
	// prepare makes what is too large to be made for each round. A side that has the last
	// turn of a round and the first of the next keeps it.
	prepare func(*turn)
	take    func(*turn) samples
}

// stopGrace is how long a side may take to end, so that the next one is alone.
const stopGrace = time.Minute

// samples are the values of one turn, by the name of the measure.
type samples map[string]float64

// turn is one side's attempt at a case.
type turn struct {
	*bench
	*testing.T

	side    side
	process *lab.Process
	// ns is a namespace of this turn alone, and pods are those in it.
	ns   string
	pods *members
}

// takeTurn starts a side, lets it do something small so that its caches and connections
// are warm, and then what is measured, for each of some rounds. All is removed afterwards.
func (b *bench) takeTurn(t *testing.T, c benchCase, s side, rounds []int, tell func(round int, got samples)) {
	turn := &turn{bench: b, T: t, side: s}
	if s.start != nil {
		turn.process = s.start(t, b)
	}
	turn.warmUp()
	turn.ns = turn.namespace()
	turn.pods = watchMembers(t, b.host, turn.ns)
	b.settle(t)
	if c.prepare != nil {
		c.prepare(turn)
	}
	for _, round := range rounds {
		b.audit.mark(t)
		tell(round, c.take(turn))
	}
	turn.removeSets(turn.ns)
	b.sweep(t, turn.ns)
	if turn.process != nil {
		turn.process.Stop(t, stopGrace)
	}
	if b.afterTurn != nil {
		b.afterTurn()
		b.afterTurn = nil
	}
}

func (t *turn) warmUp() {
	t.Helper()
	if t.bare() {
		return
	}
	t.ns = t.namespace()
	t.pods = watchMembers(t.T, t.host, t.ns)
	t.create(set("warm-up", 1))
	if !t.side.api {
		t.await(&t.pods.ready, 1)
	}
	t.removeSets(t.ns)
	t.sweep(t.T, t.ns)
}

// namespace makes a namespace in which pods can be created. It stays: to remove one makes
// the cluster look for everything that could be in it, during the turns that follow.
func (t *turn) namespace() string {
	t.Helper()
	ns, err := t.host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.wait(t.T, "the namespace has its service account", func(ctx context.Context) (bool, error) {
		_, err := t.host.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	_, err = t.host.CoreV1().Services(ns.Name).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: service},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 5432}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a service: %v", err)
	}
	return ns.Name
}

// namespaceUID is the identity of the turn's namespace.
func (t *turn) namespaceUID() types.UID {
	t.Helper()
	ns, err := t.host.CoreV1().Namespaces().Get(t.Context(), t.ns, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.UID
}

// size is what the turn's side is given of a case's usual size.
func (t *turn) size(usual int) int {
	return max(1, int(float64(usual)*t.scale*t.side.share))
}

// path is where the turn's side serves its sets.
func (t *turn) path(name string) string { return t.pathIn(t.ns, name) }

func (t *turn) pathIn(ns, name string) string {
	path := fmt.Sprintf("/apis/%s/namespaces/%s/statefulsets", t.side.sets.GroupVersion(), ns)
	if name != "" {
		path += "/" + name
	}
	return path
}

func (t *turn) create(set map[string]any) {
	t.Helper()
	if err := t.post(t.ns, set); err != nil {
		t.Fatalf("creating a set: %v", err)
	}
}

func (t *turn) post(ns string, set map[string]any) error {
	body, err := json.Marshal(t.manifest(set))
	if err != nil {
		return err
	}
	_, err = t.http.post(t.Context(), t.pathIn(ns, ""), body)
	return err
}

// manifest is a set in the words of the turn's side.
func (t *turn) manifest(set map[string]any) map[string]any {
	own := maps.Clone(set)
	own["apiVersion"] = t.side.sets.GroupVersion().String()
	return own
}

func (t *turn) change(name, patch string) {
	t.Helper()
	if _, err := t.http.patch(t.Context(), t.path(name), []byte(patch)); err != nil {
		t.Fatalf("changing set %s: %v", name, err)
	}
}

// removeSets removes all sets of a namespace. Their pods are swept away by somebody else.
func (t *turn) removeSets(ns string) {
	t.Helper()
	if t.bare() {
		return
	}
	// To delete thousands takes longer than one request may.
	t.wait(t.T, "the sets are removed", func(ctx context.Context) (bool, error) {
		_, err := t.http.delete(ctx, t.pathIn(ns, ""))
		if err != nil {
			t.Logf("removing sets took more than one attempt: %v", err)
		}
		return err == nil, nil
	})
}

func (t *turn) await(list *[]time.Time, n int) time.Time {
	t.Helper()
	at, err := t.pods.await(t.Context(), list, n)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// addWrites counts the requests to the host with which the side has changed something in
// the turn's namespace since the last mark, when it has come to rest. Those for members
// alone are told apart: no member needs events, and a set has one revision for all.
func (t *turn) addWrites(to samples, members int) samples {
	t.Helper()
	t.settle(t.T)
	writes := t.audit.count(t.T, measure.Filter{User: t.side.user, Namespace: t.ns})
	t.Logf("%s has asked the host for %v", t.side.name, writes)
	to["host writes"] = float64(writes.Total()) / float64(members)
	to["host writes for members"] = float64(writes.Total()-writes.Of("events")-writes.Of("controllerrevisions")) / float64(members)
	return to
}
