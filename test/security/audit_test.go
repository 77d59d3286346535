//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"statefulset.dev/test/harness"
)

// TestEveryWriteIsAuditedOnce writes in every way through the host, and finds each request
// in our audit log and in the host's.
func TestEveryWriteIsAuditedOnce(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	w.bind(t, ns, "cluster-admin", "auditor")
	config := w.as("auditor", "people-of-the-test")
	client, sets := through(t, config), setsIn(ns)
	body := `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},` +
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`
	writes := []request{
		{method: http.MethodPost, url: sets, body: body},
		{method: http.MethodPost, url: sets + "?dryRun=All", body: strings.Replace(body, `"db"`, `"dry"`, 1)},
		{method: http.MethodPatch, url: sets + "/db", body: `{"metadata":{"labels":{"a":"b"}}}`, header: mergePatch()},
		{method: http.MethodPatch, url: sets + "/db/scale", body: `{"spec":{"replicas":0}}`, header: mergePatch()},
		{method: http.MethodPatch, url: sets + "/db/status", body: `{"status":{"collisionCount":1}}`, header: mergePatch()},
		{method: http.MethodPut, url: sets + "/db", body: strings.Replace(body, `"replicas":0`, `"replicas":0,"minReadySeconds":1`, 1)},
		{method: http.MethodDelete, url: sets + "/db"},
		{method: http.MethodDelete, url: sets + "?labelSelector=a%3Dnone"},
		{method: http.MethodPost, url: sets, body: `{"kind":"refused"}`},
	}
	for i := range writes {
		separator := "?"
		if strings.Contains(writes[i].url, "?") {
			separator = "&"
		}
		writes[i].url += separator + "fieldManager=audited-" + ns + fmt.Sprint(i)
		r := writes[i]
		r.url = config.Host + r.url
		got := ask(t, client, r)
		if refusedOne := i == len(writes)-1; got.code >= 500 || (got.code >= 400) != refusedOne {
			t.Errorf("%s %s: got %d, %s", r.method, r.url, got.code, got.body)
		}
	}
	for i, r := range writes {
		word := "audited-" + ns + fmt.Sprint(i)
		own, host := w.auditedBy(t, w.ownAudit(), word), w.auditedBy(t, w.hostAudit(), word)
		user := own.User
		if user.Username != "auditor" || user.UID != "uid-of-auditor" || !slices.Contains(user.Groups, "people-of-the-test") {
			t.Errorf("%s %s: got user %+v, want auditor with UID and group", r.method, r.url, user)
		}
		// The host writes the query anew, in its order.
		if got, want := parsed(t, own.RequestURI), parsed(t, r.url); got.Path != want.Path || got.Query().Encode() != want.Query().Encode() ||
			own.ResponseStatus == nil || own.ObjectRef == nil || own.ObjectRef.Namespace != ns {
			t.Errorf("%s: got %s, %+v, %+v, want its address, its end and its object", r.url, own.RequestURI, own.ResponseStatus, own.ObjectRef)
		}
		if own.AuditID == "" || own.AuditID != host.AuditID || host.ImpersonatedUser == nil || host.ImpersonatedUser.Username != "auditor" {
			t.Errorf("%s: got audit ID %q of ours and %q of the host's, by %+v, want the same", r.url, own.AuditID, host.AuditID,
				host.ImpersonatedUser)
		}
	}
	if found := events(t, w.ownAudit(), func(e *auditv1.Event) bool {
		return e.User.Username == "auditor" && (e.RequestObject != nil || e.ResponseObject != nil)
	}); len(found) > 0 {
		t.Errorf("events with contents: got %d, want none at level Metadata", len(found))
	}
	t.Logf("%d writes, each once in both logs, joined by audit ID", len(writes))
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	got, err := url.Parse(address)
	if err != nil {
		t.Fatalf("reading an address: %v", err)
	}
	return got
}

// TestAQuietTenantIsServedBesideANoisyOne lets one user ask a hundred times more than
// another, and much more than the server may serve at a time.
func TestAQuietTenantIsServedBesideANoisyOne(t *testing.T) {
	const noisy, quiet = 100, 60
	w := shared(t)
	ns := w.Namespace(t, "security")
	for i := range 20 {
		set := harness.NewSet(fmt.Sprintf("listed-%d", i), 0)
		set.Annotations = map[string]string{"test/size": strings.Repeat("x", 50<<10)}
		w.create(t, ns, set)
	}
	program := w.replica(t, "small", map[string]string{"max-requests-inflight": "6", "max-mutating-requests-inflight": "4"})
	w.Start(t, program)
	base := "https://127.0.0.1:" + program.Port() + setsIn(ns)
	for _, user := range []string{"noisy", "quiet"} {
		w.bind(t, ns, "edit", user)
	}
	listener := w.direct(t, w.known(t, "quiet"))
	harness.Eventually(t, "the quiet one is known", func(ctx context.Context) error {
		if got, err := try(ctx, listener, request{url: base + "/listed-0"}); err != nil || got.code != http.StatusOK {
			return fmt.Errorf("got %d, %v, want 200", got.code, err) //nolint:errorlint // it may be nil
		}
		return nil
	})
	alone := timed(t, quiet, listener, base+"/listed-0")

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var mu sync.Mutex
	codes, took := map[int]int{}, []time.Duration{}
	for range noisy {
		client := w.direct(t, w.known(t, "noisy"))
		running.Go(func() {
			for ctx.Err() == nil {
				begun := time.Now()
				if got, err := try(ctx, client, request{url: base}); err == nil {
					mu.Lock()
					codes[got.code]++
					took = append(took, time.Since(begun).Round(10*time.Microsecond))
					mu.Unlock()
				}
			}
		})
	}
	admin := w.admin(t)
	harness.Eventually(t, "requests of the noisy one wait", func(ctx context.Context) error {
		got, err := try(ctx, admin, request{url: "https://127.0.0.1:" + program.Port() + "/metrics"})
		if err == nil && !waiting.MatchString(got.body) {
			err = fmt.Errorf("got none in a queue")
		}
		return err
	})
	beside := timed(t, quiet, listener, base+"/listed-0")
	stop()
	running.Wait()
	slices.Sort(took)
	if len(took) == 0 || beside[quiet/2] > took[len(took)/2] {
		t.Errorf("half of the quiet one's requests took up to %s, and of the noisy one's %v of %d; want that the quiet one waits less",
			beside[quiet/2], took[min(len(took)/2, 0):min(len(took), 1)], len(took))
	}
	t.Logf("the quiet one: %d of %d requests served; p50 %s alone, %s beside the noisy one; p99 %s and %s (%.1f times); the noisy one: %v",
		quiet, quiet,
		alone[quiet/2], beside[quiet/2], alone[quiet-1], beside[quiet-1], float64(beside[quiet-1])/float64(alone[quiet-1]), codes)
}

// waiting finds a queue of priority and fairness with requests in it.
var waiting = regexp.MustCompile(`(?m)^apiserver_flowcontrol_current_inqueue_requests\{.*\} [1-9]`)

// timed asks one after the other, all of which must be answered, and returns how long it
// took, in order of length.
func timed(t *testing.T, count int, client *http.Client, url string) (took []time.Duration) {
	t.Helper()
	for range count {
		begun := time.Now()
		if got := ask(t, client, request{url: url}); got.code != http.StatusOK {
			t.Errorf("the quiet one: got %d, %.200s, want 200", got.code, got.body)
		}
		took = append(took, time.Since(begun).Round(10*time.Microsecond))
	}
	slices.Sort(took)
	return took
}
