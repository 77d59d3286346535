//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
)

const (
	// attackers send each hostile set so many times: ROUNDS sets another number.
	attackers, rounds = 16, 100
	// shortRounds is the number with -test.short.
	shortRounds = 5
	// heapMargin is how much more heap may be in use under an attack than without it.
	heapMargin = 64 << 20
	// enough violations end an attack.
	enough = 10
)

// attack is what was sent, and what came back.
type attack struct {
	mu         sync.Mutex
	refused    int // 422, naming the field
	shed       int // 429
	violations []string
	stop       context.CancelFunc
}

func (a *attack) sent() int { return a.refused + a.shed + len(a.violations) }

// judge counts an answer. It has to be a refusal that names the field, or that there are too many
// requests.
func (a *attack) judge(what, field string, code int, body []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var status metav1.Status
	var named []string
	if err == nil && code == http.StatusUnprocessableEntity && json.Unmarshal(body, &status) == nil && status.Details != nil {
		for _, cause := range status.Details.Causes {
			named = append(named, cause.Field)
		}
	}
	switch {
	case err == nil && code == http.StatusTooManyRequests:
		a.shed++
	case slices.Contains(named, field):
		a.refused++
	default:
		a.violations = append(a.violations, fmt.Sprintf("%s: got code %d, %v, fields %q, %.150q; want code 422 with the field %s, or code 429",
			what, code, err, named, body, field))
		if len(a.violations) >= enough {
			a.stop()
		}
	}
}

// request is one that carries a hostile set.
type request struct{ what, method, url, body, field string }

// ways to send a set.
const (
	dryRun = iota
	create
	update
	plan
	ways
)

// requests send each hostile set in a way.
func (w *world) requests(sets string) (all [ways][]request) {
	w.t.Helper()
	for name, hostile := range hostileExpressions(w.t) {
		add := func(way int, how, method, url, of string) {
			all[way] = append(all[way], request{name + ", " + how, method, url, hostile.with(w.t, of, hostile.hostile), hostile.field})
		}
		add(dryRun, "create in a dry run", http.MethodPost, sets+"?dryRun=All", "hostile")
		add(create, "create", http.MethodPost, sets, "hostile")
		add(update, "update", http.MethodPut, sets+"/target", "target")
		add(plan, "plan", http.MethodPost, sets+"/target/plan", "target")
	}
	return all
}

// send sends requests one after the other.
func (a *attack) send(ctx context.Context, client *http.Client, requests []request) {
	for _, r := range requests {
		if ctx.Err() != nil {
			return
		}
		code, body, err := ask(ctx, client, r.method, r.url, r.body)
		if ctx.Err() == nil {
			a.judge(r.what, r.field, code, body, err)
		}
	}
}

// TestHostileExpressionsHarmNobodyElse sends sets whose expressions ask for gigabytes and minutes,
// from many clients, while others read sets, and one set is created and gets its pods.
func TestHostileExpressionsHarmNobodyElse(t *testing.T) {
	w := newWorld(t, nil)
	w.MayMake(t, []string{"configmaps"})
	turns, calm := harness.Number(t, "ROUNDS", rounds), 15*time.Second
	if testing.Short() {
		turns, calm = harness.Number(t, "ROUNDS", shortRounds), 4*time.Second
	}
	reading, base := w.client("reader")
	sets := base + "/apis/apps.statefulset.dev/v1/namespaces/" + w.namespace + "/statefulsets"
	var read []string
	for i := range 10 {
		w.create(fmt.Sprintf("read-%d", i), 0)
		read = append(read, fmt.Sprintf("%s/read-%d", sets, i))
	}
	w.create("target", 0)
	for _, name := range []string{"read-9", "target"} {
		w.awaitReady(name, 0)
	}

	limit := w.during(calm/3, func(ctx context.Context) *load { return w.read(ctx, reading, read, 0) })
	rate := max(1, min(usualRate, limit.rate()/2))
	t.Logf("as many GETs as are answered: %s; the load is %d a second", limit, rate)

	var alone, beside observed
	quiet := w.during(calm, func(ctx context.Context) *load {
		var watching sync.WaitGroup
		watching.Go(func() { alone = w.observe(ctx) })
		defer watching.Wait()
		return w.read(ctx, reading, read, rate)
	})
	t.Logf("without the attack: %s; %s", quiet, alone)

	lease := w.lease()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	a, ended := &attack{stop: stop}, make(chan struct{})
	all := w.requests(sets)
	clients := make([]*http.Client, attackers)
	for i := range clients {
		clients[i], _ = w.client(fmt.Sprintf("attacker-%d", i))
	}
	began := time.Now()
	var attacking, observing sync.WaitGroup
	for i, client := range clients {
		attacking.Go(func() {
			for turn := range turns {
				a.send(ctx, client, all[(turn+i)%ways])
			}
		})
	}
	var busy *load
	loaded, unload := context.WithCancel(t.Context())
	defer unload()
	observing.Go(func() { beside = w.observe(loaded) })
	observing.Go(func() { busy = w.read(loaded, reading, read, rate) })
	go func() {
		defer close(ended)
		attacking.Wait()
	}()
	w.eventually("a set is created under the attack", func(ctx context.Context) error {
		_, err := w.Sets.AppsV1().StatefulSets(w.namespace).Create(ctx, harness.NewSet("during", 3), metav1.CreateOptions{})
		return err
	})
	w.awaitReady("during", 3)
	t.Logf("a set of 3 was ready %s after it was created under the attack", time.Since(began).Round(time.Millisecond))
	<-ended
	took := time.Since(began)
	unload()
	observing.Wait()
	t.Logf("under the attack, %d requests in %s: %s; %s", a.sent(), took.Round(time.Millisecond), busy, beside)

	violations := w.judgeAttack(a, quiet, busy, alone, beside)
	violations += w.keptLease(lease, began)
	w.compareCosts(clients[0], all[dryRun])
	row.Report(t, row.Row{Fault: "hostile expressions", Side: "ours", Where: "real", Runs: a.sent(), Violations: violations,
		Detail: fmt.Sprintf("%d clients beside %d GETs a second; %d refused by field, %d shed; heap %d MiB, %d without; lease kept",
			attackers, busy.rate(), a.refused, a.shed, beside.heap>>20, alone.heap>>20)})
}

// during does something for that long.
func (w *world) during(length time.Duration, do func(context.Context) *load) *load {
	ctx, stop := context.WithTimeout(w.t.Context(), length)
	defer stop()
	return do(ctx)
}

// judgeAttack counts what an attack must not do.
func (w *world) judgeAttack(a *attack, quiet, busy *load, alone, beside observed) (violations int) {
	w.t.Helper()
	report := func(format string, args ...any) {
		violations++
		w.t.Errorf(format, args...)
	}
	for _, violation := range a.violations {
		report("%s", violation)
	}
	select {
	case <-w.server.Exited():
		report("the server: got that it has ended (%s), want that it runs", w.lastWords())
		w.t.FailNow()
	default:
	}
	if a.refused == 0 {
		report("requests refused with the name of the field: got none, want some; %d were shed", a.shed)
	}
	for when, l := range map[string]*load{"without the attack": quiet, "under the attack": busy} {
		if n := l.failed(); n > 0 || l.codes.of(http.StatusOK) == 0 {
			report("GETs %s that failed: got %d, want 0, and some served: %s: %s", when, n, l, l.codes.sample)
		}
	}
	if alone.samples == 0 || beside.samples == 0 {
		report("samples of the heap: got %d and %d, want some", alone.samples, beside.samples)
	}
	if more := beside.heap - alone.heap; more > heapMargin {
		report("heap in use under the attack: got %d MiB, %d more than the %d without it, want at most %d more",
			beside.heap>>20, more>>20, alone.heap>>20, heapMargin>>20)
	}
	sets := w.Sets.AppsV1().StatefulSets(w.namespace)
	if _, err := sets.Get(w.t.Context(), "hostile", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		report("the set that was to be created: got %v, want that it is not found", err)
	}
	if target, err := sets.Get(w.t.Context(), "target", metav1.GetOptions{}); err != nil || target.Generation != 1 {
		report("the set that was to be updated: got generation %d, %v, want 1", target.Generation, err)
	}
	return violations
}

// ask sends a request and returns the answer.
func ask(ctx context.Context, client *http.Client, method, url, body string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}
