//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"statefulset.dev/test/harness"
)

// cut is a connection on which our API can be made to be down.
type cut struct {
	http.RoundTripper
	down *atomic.Bool
}

func (c cut) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.down.Load() && strings.Contains(request.URL.Path, "/apis/apps.statefulset.dev/") {
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Request: request,
			Header: http.Header{"Content-Type": {"text/plain"}},
		}, nil
	}
	return c.RoundTripper.RoundTrip(request)
}

func TestOurServerIsDown(t *testing.T) {
	for _, direction := range []string{"", "--back"} {
		for _, steps := range []int{0, 1, 3, 5} {
			if testing.Short() && steps != 1 {
				continue
			}
			t.Run(fmt.Sprintf("after step %d %s", steps, direction), func(t *testing.T) {
				t.Parallel()
				ns := namespace(t)
				interruptible(t, ns)
				before := look(t, ns)
				args := []string{"web"}
				if direction != "" {
					migrate(t, ns, "web")
					args = append(args, direction)
				}
				down := &atomic.Bool{}
				down.Store(steps == 0)
				enough := afterSteps(steps)
				r := run{
					namespace: ns,
					wrap: func(config *rest.Config) *rest.Config {
						config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return cut{inner, down} })
						return config
					},
					after: func(line string) error {
						if enough(line) != nil {
							down.Store(true)
						}
						return nil
					},
				}
				out, err := r.migrate(t, append(args, "--timeout=2s")...)
				if err == nil || !strings.Contains(err.Error(), "statefulset.dev") {
					t.Errorf("got %v, want an error that names our API\n%s", err, out)
				}
				expectSame(t, "while our server was down", before, look(t, ns))
				migrate(t, ns, args...)
				expectSame(t, "when our server was back", before, look(t, ns))
			})
		}
	}
}

const clerk = "clerk"

// allow lets the user do everything in the namespace.
func allow(t *testing.T, ns string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: clerk},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: clerk}},
	}
	if _, err := suite.Host.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a role binding: %v", err)
	}
	waitAllowed(t, ns, true)
}

func forbid(t *testing.T, ns string) {
	t.Helper()
	if err := suite.Host.RbacV1().RoleBindings(ns).Delete(t.Context(), clerk, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting a role binding: %v", err)
	}
	waitAllowed(t, ns, false)
}

func waitAllowed(t *testing.T, ns string, want bool) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the authorizer says %t", want), func(ctx context.Context) error {
		review, err := suite.Host.AuthorizationV1().LocalSubjectAccessReviews(ns).Create(ctx, &authorizationv1.LocalSubjectAccessReview{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns},
			Spec: authorizationv1.SubjectAccessReviewSpec{User: clerk, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: ns, Verb: "get", Group: "apps", Resource: "statefulsets",
			}},
		}, metav1.CreateOptions{})
		if err == nil && review.Status.Allowed != want {
			err = fmt.Errorf("it says %t", review.Status.Allowed)
		}
		return err
	})
}

func TestPermissionIsMissing(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	interruptible(t, ns)
	expectRefusal(t, run{namespace: ns, user: clerk}, "permissions are missing", "web")
	if _, err := suite.Sets.AppsV1().StatefulSets(ns).Get(t.Context(), "web", metav1.GetOptions{}); err == nil {
		t.Error("our set was created without permission")
	}
}

func TestPermissionIsLostInTheMiddle(t *testing.T) {
	for _, steps := range []int{1, 3} {
		t.Run(fmt.Sprintf("after step %d", steps), func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			interruptible(t, ns)
			before := look(t, ns)
			allow(t, ns)
			enough := afterSteps(steps)
			r := run{namespace: ns, user: clerk, after: func(line string) error {
				if enough(line) != nil {
					forbid(t, ns)
				}
				return nil
			}}
			if out, err := r.migrate(t, "web"); err == nil || !strings.Contains(err.Error(), "forbidden") {
				t.Errorf("got %v, want that it is forbidden\n%s", err, out)
			}
			expectSame(t, "without permission", before, look(t, ns))
			allow(t, ns)
			if out, err := (run{namespace: ns, user: clerk}).migrate(t, "web"); err != nil {
				t.Errorf("with permission again: %v\n%s", err, out)
			}
			expectSame(t, "with permission again", before, look(t, ns))
		})
	}
}

func TestASetThatIsCreatedAnewInTheMiddleIsMovedAgain(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, web(3))
	waitReady(t, ns, 3, 3)
	before, revisions := look(t, ns), theirRevisions(t, ns)
	again := false
	out, err := run{namespace: ns, after: func(line string) error {
		if strings.Contains(line, "garbage collector has released") && !again {
			again = true
			create(t, ns, web(3))
		}
		return nil
	}}.migrate(t, "web")
	if err != nil || !again {
		t.Fatalf("moving the set: %v, created again: %t\n%s", err, again, out)
	}
	expectSame(t, "after the move", before, look(t, ns))
	expectOwner(t, "after the move", ns, ourVersion, revisions)
}
