//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestLifeOfTheExampleWithReplacedMembers creates the example, and has members of it replaced
// with their claims and with new ones.
func TestLifeOfTheExampleWithReplacedMembers(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/replace.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	before, claims := podUIDs(t, ns), claimUIDs(t, ns)

	mark := pods.mark()
	if got, want := plugin(t, "replace", "db-1", "--dry-run=server", "-n", ns),
		"statefulset.apps.statefulset.dev/db: db-1 will be replaced (server dry run)\n"; got != want {
		t.Errorf("kubectl sts says %q, want %q", got, want)
	}
	if said, want := plugin(t, "plan", "db", "--replace=db-1", "-n", ns), "delete pod db-1 (replace)"; !strings.Contains(said, want) ||
		!strings.Contains(said, "Converged: 3 of 3 members are available") {
		t.Errorf("kubectl sts plan says %q, want %q in it and the set whole in the end", said, want)
	}
	if said, err := tryPlugin(t, "plan", "db", "--replace=db-3", "-n", ns); err == nil ||
		!strings.Contains(said, "set db has no member db-3") {
		t.Errorf("the plan of replacing what is no member: got %q and %v, want it refused as replacing it is", said, err)
	}
	pods.expect(t, mark)
	const last = "statefulset.apps.statefulset.dev/db: db-1 is back\n"
	if said := plugin(t, "replace", "db-1", "--wait", "--timeout=2m", "-n", ns); !strings.HasSuffix(said, last) {
		t.Errorf("kubectl sts says %q, want it to end with %q", said, last)
	}
	pods.expect(t, mark, "deleted db-1", "added db-1")
	set := waitReady(t, ns, "db", 3)
	after := podUIDs(t, ns)
	if after["db-1"] == before["db-1"] || after["db-0"] != before["db-0"] || after["db-2"] != before["db-2"] {
		t.Errorf("pods were %v and are %v, want another db-1 and no other", before, after)
	}
	if got := claimUIDs(t, ns); got["data-db-1"] != claims["data-db-1"] {
		t.Errorf("the claim of db-1 was %s and is %s, want the same", claims["data-db-1"], got["data-db-1"])
	}
	if len(set.Status.Replacements) > 0 {
		t.Errorf("status.replacements of the set at rest are %v, want none", set.Status.Replacements)
	}
	expectEvent(t, ns, "SuccessfulDelete", `Deleted pod "db-1" (replace) of set db`)

	mark = pods.mark()
	// Whether the member becomes ready is not looked at: KWOK provisions by name, and may give the
	// new claim the volume of the old one, which is gone.
	plugin(t, "replace", "db-2", "--new-claims", "--yes", "-n", ns)
	pods.expect(t, mark, "deleted db-2", "added db-2")
	if got := claimUIDs(t, ns); got["data-db-2"] == claims["data-db-2"] || got["data-db-0"] != claims["data-db-0"] {
		t.Errorf("claims were %v and are %v, want another one of db-2 and no other", claims, got)
	}

	for sentence, test := range map[string]struct{ member, want string }{
		"a member that does not exist": {"db-3", "ordinals[0]: Invalid value: 3: set db has no member db-3; its members are 0 to 2"},
		"a set that does not exist":    {"web-0", `statefulsets.apps.statefulset.dev "web" not found`},
	} {
		if said, err := tryPlugin(t, "replace", test.member, "-n", ns); err == nil || !strings.Contains(said, test.want) {
			t.Errorf("replacing %s: got %q and %v, want it refused with %q", sentence, said, err, test.want)
		}
	}
}

// TestMembersAreReplacedUnderTheRightsOfWhoMayEdit looks at the roles of the cluster.
func TestMembersAreReplacedUnderTheRightsOfWhoMayEdit(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for role, allowed := range map[string]bool{"view": false, "edit": true} {
		kubectl(t, "create", "rolebinding", role, "--clusterrole="+role, "--user="+ns+"-"+role, "-n", ns)
		harness.Eventually(t, "it is known what "+role+" may do", func(ctx context.Context) error {
			may := func(verb, subresource string) bool {
				review, err := suite.Host.AuthorizationV1().SubjectAccessReviews().Create(ctx,
					&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: ns + "-" + role,
						ResourceAttributes: &authorizationv1.ResourceAttributes{
							Namespace: ns, Verb: verb, Group: v1.GroupName, Resource: "statefulsets", Subresource: subresource}}}, metav1.CreateOptions{})
				return err == nil && review.Status.Allowed
			}
			if !may("get", "") {
				return errors.New("the role is not in force yet")
			}
			if got := may("create", "replace"); got != allowed {
				return fmt.Errorf("to replace members: got %t, want %t", got, allowed)
			}
			return nil
		})
	}
}
