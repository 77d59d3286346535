// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/apiserver/servertest"
)

func TestClientsOfTheHostHaveNoRate(t *testing.T) {
	var asked atomic.Int64
	host := servertest.HostAt(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1"}`)
	})
	if host.Config.QPS >= 0 {
		t.Errorf("requests a second: got %v, want a negative number, that is no limit", host.Config.QPS)
	}
	for name, limit := range map[string]any{
		"single requests": host.Client.CoreV1().RESTClient().GetRateLimiter(),
		"informers":       host.Watching.CoreV1().RESTClient().GetRateLimiter(),
	} {
		if limit != nil {
			t.Errorf("the client of %s: got a limit, want none", name)
		}
	}
	const requests = 200
	begun := time.Now()
	for range requests {
		if _, err := host.Client.CoreV1().ConfigMaps("a").Get(t.Context(), "note", metav1.GetOptions{}); err != nil {
			t.Fatalf("asking: %v", err)
		}
	}
	took := time.Since(begun)
	t.Logf("%d requests took %s", asked.Load(), took.Round(time.Millisecond))
	if most := 30 * time.Second; took > most {
		t.Errorf("%d requests, one after the other, took %s, want less than %s: at 5 a second they take 38s", requests, took, most)
	}
}
