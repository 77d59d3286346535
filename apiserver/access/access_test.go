// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/access"
	"statefulset.dev/apiserver/servertest"
)

// gatekeeper is a host that knows tokens and permits paths to users. Everybody else may nothing.
type gatekeeper struct {
	reviews, tokens atomic.Int64
	gone            atomic.Bool
	hold            chan struct{} // if not nil, answers about tokens come when it is closed
}

func (g *gatekeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.gone.Load() {
		http.Error(w, "gone", http.StatusServiceUnavailable)
		return
	}
	var answer any
	switch {
	case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
		g.tokens.Add(1)
		if g.hold != nil {
			<-g.hold
		}
		review := &authenticationv1.TokenReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: review.Spec.Token}}
		if review.Spec.Token == "administrator" {
			review.Status.User.Groups = []string{user.SystemPrivilegedGroup}
		}
		answer = review
	case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
		g.reviews.Add(1)
		review := &authorizationv1.SubjectAccessReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		path := review.Spec.NonResourceAttributes
		review.Status.Allowed = review.Spec.User == "monitoring" && path != nil && strings.HasPrefix(path.Path, "/readyz/")
		answer = review
	default:
		fmt.Fprint(w, "ok")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// guardedBy makes a server ask the gatekeeper who a caller is and what it may do.
func (g *gatekeeper) guardedBy(t *testing.T) (choose func(*apiserver.Options), configure func(*apiserver.Config)) {
	t.Helper()
	host := servertest.HostAt(t, g.ServeHTTP)
	var chosen *apiserver.Options
	choose = func(o *apiserver.Options) {
		chosen = o
		chosen.Host.CoreAPIKubeconfigPath = servertest.Kubeconfig(t, host.Config.Host)
		chosen.Authentication.SkipInClusterLookup = true
	}
	return choose, func(c *apiserver.Config) {
		if err := errors.Join(access.ApplyAuthentication(chosen.Authentication, &c.Generic.Config),
			access.ApplyAuthorization(chosen.Authorization, &c.Generic.Config)); err != nil {
			t.Fatalf("preparing access: %v", err)
		}
	}
}

func TestReasonsAreForThoseWhoMaySeeThem(t *testing.T) {
	const secret = "etcd at 10.1.2.3 has store 6f1c"
	g := &gatekeeper{}
	choose, configure := g.guardedBy(t)
	s := servertest.StartUnready(t, choose, configure, func(c *apiserver.Config) {
		c.HostReady = func(context.Context) error { return errors.New(secret) }
	})
	client := s.Anonymous(t)
	as := func(token, path string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Loopback.Host+path, http.NoBody)
		if err != nil {
			t.Fatalf("preparing a request: %v", err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		return servertest.AnswerTo(client, req)
	}
	s.Eventually(t, "the host was asked", func(context.Context) error {
		if got := as("administrator", "/readyz/host"); !strings.Contains(got, secret) {
			return fmt.Errorf("/readyz/host as administrator: got %q, want the reason", got)
		}
		return nil
	})

	tests := map[string]struct{ token, path, want, not string }{
		"anonymous callers learn which check fails, and no reason": {"", "/readyz", "[-]host failed: reason withheld", secret},
		"asking for more words does not give the reason":           {"", "/readyz?verbose", "[-]host failed: reason withheld", secret},
		"a single check is not for anonymous callers":              {"", "/readyz/host", "401 ", secret},
		"nor is one of the older paths":                            {"", "/healthz/etcd", "401 ", secret},
		"nor one that is not there":                                {"", "/livez/x", "401 ", secret},
		"nor what the controller lacks":                            {"", "/healthz/controller", "401 ", secret},
		"who has a name and no right learns no reason":             {"tenant", "/readyz/host", "403 ", secret},
		"who has a name and no right learns which check fails":     {"tenant", "/readyz", "[-]host failed: reason withheld", secret},
		"whom the host permits the path learns the reason":         {"monitoring", "/readyz/host", secret, "403"},
		"administrators learn the reason without asking the host":  {"administrator", "/readyz/host", secret, "403"},
		"a path with dots is no way round the rule":                {"", "/readyz/../readyz/host", "401 ", secret},
		"nor is a second slash":                                    {"", "/readyz//host", "401 ", secret},
		"a name of a check in the query does not give its reason": {
			"", "/readyz?exclude=etcd&verbose", "[-]host failed: reason withheld", secret},
		"whether the server lives is for everybody and needs nobody": {"", "/livez", "200 ok", secret},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			before := g.reviews.Load()
			got := as(test.token, test.path)
			if !strings.Contains(got, test.want) || strings.Contains(got, test.not) {
				t.Errorf("%s as %q: got %q, want it to contain %q and not %q", test.path, test.token, got, test.want, test.not)
			}
			if asked := g.reviews.Load() - before; test.token == "" && asked != 0 {
				t.Errorf("%s: the host was asked %d times what anonymous callers may, want 0", test.path, asked)
			}
		})
	}

	t.Run("administrators learn the reason while the host is gone", func(t *testing.T) {
		g.gone.Store(true)
		if got := as("administrator", "/readyz/host"); !strings.Contains(got, secret) {
			t.Errorf("/readyz/host: got %q, want the reason", got)
		}
	})
}
