//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// cell is a verb on the set itself or on one of its subresources.
type cell struct{ verb, subresource string }

// cells are all that a role could allow, as requests that change nothing: they are about
// a set that does not exist, or are dry runs that cannot succeed.
func cells(base string, subresources ...string) map[cell]request {
	dry, one := "?dryRun=All", base+"/absent"
	all := map[cell]request{
		{"get", ""}:              {url: one},
		{"list", ""}:             {url: base},
		{"watch", ""}:            {url: base + "?watch=1&timeoutSeconds=1"},
		{"create", ""}:           {method: http.MethodPost, url: base + dry, body: "{}"},
		{"update", ""}:           {method: http.MethodPut, url: one + dry, body: "{}"},
		{"patch", ""}:            {method: http.MethodPatch, url: one + dry, body: "{}", header: mergePatch()},
		{"delete", ""}:           {method: http.MethodDelete, url: one + dry},
		{"deletecollection", ""}: {method: http.MethodDelete, url: base + dry + "&labelSelector=absent%3Dabsent"},
	}
	for _, sub := range subresources {
		path := one + "/" + sub
		maps.Copy(all, map[cell]request{
			{"get", sub}:    {url: path},
			{"create", sub}: {method: http.MethodPost, url: path + dry, body: "{}"},
			{"update", sub}: {method: http.MethodPut, url: path + dry, body: "{}"},
			{"patch", sub}:  {method: http.MethodPatch, url: path + dry, body: "{}", header: mergePatch()},
			{"delete", sub}: {method: http.MethodDelete, url: path + dry},
		})
	}
	return all
}

func mergePatch() map[string]string {
	return map[string]string{"Content-Type": "application/merge-patch+json"}
}

// TestRolesMayTheSameAsWithAppsV1 tries every verb on every resource in every role, on our
// kind and on that of apps/v1.
func TestRolesMayTheSameAsWithAppsV1(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	scaler := w.role(t, rbacv1.PolicyRule{APIGroups: []string{"apps", "apps.statefulset.dev"}, Resources: []string{"statefulsets/scale"},
		Verbs: []string{"get", "update", "patch"}})
	roles := map[string]string{
		"none": "", "view": "view", "edit": "edit", "admin": "admin", "cluster-admin": "cluster-admin", "scaler": scaler}
	// What apps/v1 has not: who may change sets may have a plan made for a set of theirs.
	plans := map[string][]string{
		"view": {"get"}, "edit": {"create", "get"}, "admin": {"create", "get"}, "cluster-admin": {"create", "delete", "get", "patch", "update"}}
	compared := 0
	for name, role := range roles {
		user := "in-role-" + name
		if role != "" {
			w.bind(t, ns, role, user)
		}
		config := w.as(user)
		client := through(t, config)
		ours := allowed(t, client, config.Host, cells(setsIn(ns), "status", "scale", "plan"))
		theirs := allowed(t, client, config.Host, cells("/apis/apps/v1/namespaces/"+ns+"/statefulsets", "status", "scale"))
		for at, want := range theirs {
			compared++
			if got := ours[at]; got != want {
				t.Errorf("role %s, %s of %q: got allowed %t, want %t as with apps/v1", name, at.verb, at.subresource, got, want)
			}
		}
		var plan []string
		for at, may := range ours {
			if at.subresource == "plan" && may {
				plan = append(plan, at.verb)
			}
		}
		slices.Sort(plan)
		if !slices.Equal(plan, plans[name]) {
			t.Errorf("role %s on plan: got %q, want %q", name, plan, plans[name])
		}
	}
	t.Logf("%d cells of %d roles compared with apps/v1", compared, len(roles))
}

// allowed says for each request whether it was let through to be looked at.
func allowed(t *testing.T, client *http.Client, base string, requests map[cell]request) map[cell]bool {
	t.Helper()
	may := map[cell]bool{}
	for at, r := range requests {
		r.url = base + r.url
		got := ask(t, client, r)
		if got.code == http.StatusUnauthorized || got.code >= http.StatusInternalServerError {
			t.Errorf("%s %s: got %d, %s, want an answer about the right to do so", r.method, r.url, got.code, got.body)
		}
		may[at] = got.code != http.StatusForbidden
	}
	return may
}

// TestARevokedRightEnds takes a role away from one who keeps asking our server past the
// host, which is where an answer may be remembered.
func TestARevokedRightEnds(t *testing.T) {
	t.Parallel()
	const remembered, slack = 10 * time.Second, 20 * time.Second
	w := shared(t)
	ns := w.Namespace(t, "security")
	client, url := w.direct(t, w.known(t, "revoked")), w.server()+setsIn(ns)
	if got := ask(t, client, request{url: url}); got.code != http.StatusForbidden {
		t.Errorf("before the role was given: got %d, want 403", got.code)
	}
	revoke := w.bind(t, ns, "view", "revoked")
	code := func(want int) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			if got, err := try(ctx, client, request{url: url}); err != nil || got.code != want {
				return fmt.Errorf("got %d, %v, want %d", got.code, err, want) //nolint:errorlint // it may be nil
			}
			return nil
		}
	}
	harness.Eventually(t, "the role is known", code(http.StatusOK))
	revoke()
	begun := time.Now()
	harness.Eventually(t, "the role is gone", code(http.StatusForbidden))
	took := time.Since(begun)
	t.Logf("a revoked right ended after %s", took.Round(10*time.Millisecond))
	if took > remembered+slack {
		t.Errorf("a revoked right ended after %s, want at most %s and some time for the requests", took, remembered)
	}
}

// TestAnOutageOfAccessReviewsLetsNobodyIn makes the host answer no question about who
// somebody is and what they may do, and looks at what it is asked.
func TestAnOutageOfAccessReviewsLetsNobodyIn(t *testing.T) {
	w := shared(t)
	ns := w.Namespace(t, "security")
	r := w.newReviewer(t)
	program := w.replica(t, "reviewed", map[string]string{"kubeconfig": w.kubeconfigTo(t, r.url)})
	w.Start(t, program)
	url := "https://127.0.0.1:" + program.Port() + setsIn(ns)
	token, err := w.Host.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("getting a token: %v", err)
	}
	account := "system:serviceaccount:" + ns + ":default"
	w.bind(t, ns, "view", "outage")
	w.bind(t, ns, "view", account)
	bearing := request{url: url, header: map[string]string{"Authorization": "Bearer " + token.Status.Token}}
	byCertificate, byToken := w.direct(t, w.known(t, "outage")), w.direct(t)

	r.fail(true)
	for name, got := range map[string]answer{"a certificate": ask(t, byCertificate, request{url: url}), "a token": ask(t, byToken, bearing)} {
		if got.code != http.StatusUnauthorized && got.code != http.StatusForbidden && got.code != http.StatusInternalServerError {
			t.Errorf("with %s during the outage: got %d, %s, want 401, 403 or 500", name, got.code, got.body)
		}
		t.Logf("with %s during the outage: %d", name, got.code)
	}
	r.fail(false)
	for name, get := range map[string]func(context.Context) (answer, error){
		"a certificate": func(ctx context.Context) (answer, error) { return try(ctx, byCertificate, request{url: url}) },
		"a token":       func(ctx context.Context) (answer, error) { return try(ctx, byToken, bearing) },
	} {
		harness.Eventually(t, "with "+name+" the user is served after the outage", func(ctx context.Context) error {
			if got, err := get(ctx); err != nil || got.code != http.StatusOK {
				return fmt.Errorf("got %d, %v, want 200", got.code, err) //nolint:errorlint // it may be nil
			}
			return nil
		})
	}
}

// TestSelectorsReachTheHost lists with selectors, and looks at what the host is asked: who
// may see one set by its name may not see all.
func TestSelectorsReachTheHost(t *testing.T) {
	w := shared(t)
	ns := w.Namespace(t, "security")
	r := w.newReviewer(t)
	program := w.replica(t, "selected", map[string]string{"kubeconfig": w.kubeconfigTo(t, r.url)})
	w.Start(t, program)
	client, url := w.direct(t, w.known(t, "selecting")), "https://127.0.0.1:"+program.Port()+setsIn(ns)
	for selectors, want := range map[string]string{
		"":                                    "",
		"?fieldSelector=metadata.name%3Donly": "metadata.name In [only]",
		"?labelSelector=tier%20in%20(a,b)":    "tier In [a b]",
		"?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Donly&labelSelector=!old": "metadata.name In [only] old DoesNotExist []",
	} {
		before := len(r.asked("selecting"))
		ask(t, client, request{url: url + selectors})
		reviews := r.asked("selecting")
		if len(reviews) != before+1 {
			t.Errorf("%q: the host was asked %d times, want once", selectors, len(reviews)-before)
			continue
		}
		asked, got := reviews[before].Spec.ResourceAttributes, []string{}
		if asked.FieldSelector != nil {
			for _, one := range asked.FieldSelector.Requirements {
				got = append(got, fmt.Sprint(one.Key, " ", one.Operator, " ", one.Values))
			}
		}
		if asked.LabelSelector != nil {
			for _, one := range asked.LabelSelector.Requirements {
				got = append(got, fmt.Sprint(one.Key, " ", one.Operator, " ", one.Values))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: the host was asked about %q, want %q", selectors, got, want)
		}
	}
}
