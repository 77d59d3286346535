//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestLifeOfTheExampleThatReclaims scales the example in and out within the delay, and in again
// until its claims are deleted: at first the controller may not.
func TestLifeOfTheExampleThatReclaims(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/reclaim.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	before := claimUIDs(t, ns)
	waitMarks(t, ns, "each names the set", map[string]bool{"data-db-0": false, "data-db-1": false, "data-db-2": false})

	kubectl(t, "scale", kind, "db", "--replicas=1", "-n", ns)
	waitMarks(t, ns, "those of removed members are dated", map[string]bool{"data-db-0": false, "data-db-1": true, "data-db-2": true})
	said, err := planCommand(t, ns, strings.Replace(setOf(string(content)), "replicas: 3", "replicas: 1", 1), "-f", "-")
	if want := "delete claim data-db-2 (member removed by "; err != nil || !strings.Contains(said, want) {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, want)
	}
	kubectl(t, "scale", kind, "db", "--replicas=3", "-n", ns)
	set := waitReady(t, ns, "db", 3)
	waitMarks(t, ns, "those of members that are back are not dated",
		map[string]bool{"data-db-0": false, "data-db-1": false, "data-db-2": false})
	if after := claimUIDs(t, ns); fmt.Sprint(after) != fmt.Sprint(before) || len(set.Status.Reclaims) > 0 {
		t.Errorf("got claims %v and status.reclaims %v, want the claims %v and none to be deleted", after, set.Status.Reclaims, before)
	}

	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p",
		`{"spec":{"replicas":1,"persistentVolumeClaimRetentionPolicy":{"scaledAfterSeconds":1}}}`)
	waitUndeleted(t, ns, "claims of ordinal", "; if the controller lacks the right: kubectl apply -k artifacts/reclaim")
	waitReady(t, ns, "db", 1)
	if got := claimUIDs(t, ns); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("without the right the claims are %v, want all of %v", got, before)
	}
	kubectl(t, "apply", "-k", "../../artifacts/reclaim")
	takeAwayAgain(t, "reclaim")
	harness.Eventually(t, "the claims of removed members are deleted", func(context.Context) error {
		if got := claimUIDs(t, ns); len(got) != 1 || got["data-db-0"] != before["data-db-0"] {
			return fmt.Errorf("the claims are %v", got)
		}
		return nil
	})
	waitReady(t, ns, "db", 1)
}

// waitUndeleted waits until the status says of the claims that are due first that they could not be
// deleted.
func waitUndeleted(t *testing.T, ns, begins, ends string) {
	t.Helper()
	harness.Eventually(t, "the status says that the claims could not be deleted", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if due := set.Status.Reclaims; len(due) == 0 || !strings.HasPrefix(due[0].Message, begins) || !strings.HasSuffix(due[0].Message, ends) {
			return fmt.Errorf("status.reclaims is %v", due)
		}
		return nil
	})
}

// setOf is the set of an example that has a Service first.
func setOf(content string) string {
	_, set, _ := strings.Cut(content, "---\n")
	return set
}

// TestWhoHasClaimsDeletedMayDeleteThem has a user who may write sets and nothing else.
func TestWhoHasClaimsDeletedMayDeleteThem(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/reclaim.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectl(t, "create", "role", "sets", "-n", ns, "--verb=get,create,patch,update", "--resource=statefulsets.apps.statefulset.dev")
	kubectl(t, "create", "rolebinding", "sets", "-n", ns, "--role=sets", "--user=eve")
	const want = `spec.persistentVolumeClaimRetentionPolicy.scaledAfterSeconds: Forbidden: user "eve" may not delete "persistentvolumeclaims" in namespace`
	for sentence, args := range map[string][]string{"a creation": nil, "a dry run": {"--dry-run=server"}} {
		_, said, err := suite.Kubectl(t.Context(), setOf(string(content)),
			append([]string{"create", "-f", "-", "-n", ns, "--as=eve"}, args...)...)
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("%s: got %q and %v, want an error with %q", sentence, said, err, want)
		}
	}
	kubectlApply(t, string(content), "-n", ns)
	kubectl(t, "patch", kind, "db", "-n", ns, "--as=eve", "--type=merge", "-p", `{"spec":{"replicas":2}}`)
	_, said, err := suite.Kubectl(t.Context(), "", "patch", kind, "db", "-n", ns, "--as=eve", "--type=merge", "-p",
		`{"spec":{"persistentVolumeClaimRetentionPolicy":{"scaledAfterSeconds":1}}}`)
	if err == nil || !strings.Contains(said, want) {
		t.Errorf("a shorter delay: got %q and %v, want an error with %q", said, err, want)
	}
}

// waitMarks waits until exactly these claims exist and name the set, and until those that are to
// be dated are, and no others.
func waitMarks(t *testing.T, ns, sentence string, dated map[string]bool) {
	t.Helper()
	harness.Eventually(t, sentence, func(ctx context.Context) error {
		claims, err := suite.Host.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(claims.Items) != len(dated) {
			return fmt.Errorf("there are %d claims", len(claims.Items))
		}
		for _, claim := range claims.Items {
			_, is := claim.Annotations[v1.RetiredAtAnnotation]
			if owner := claim.Annotations[v1.OwnerAnnotation]; !strings.HasPrefix(owner, "db/") || is != dated[claim.Name] {
				return fmt.Errorf("claim %s has the annotations %v", claim.Name, claim.Annotations)
			}
		}
		return nil
	})
}
