//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	setsv1 "statefulset.dev/client/clientset/versioned/typed/apps/v1"
	"statefulset.dev/test/harness"
)

// TestTheStatusNamesWhoDidIt has two users restart, promote and abort updates: ann, whom the admin
// impersonates, and bob, a service account with a token of its own.
func TestTheStatusNamesWhoDidIt(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	kubectl(t, "apply", "-f", "../../artifacts/examples/steps.yaml", "-n", ns)
	before := time.Now().Add(-time.Minute)
	bob, bobName := serviceAccount(t, ns, "bob"), "system:serviceaccount:"+ns+":bob"
	kubectl(t, "create", "rolebinding", "ann", "-n", ns, "--clusterrole=admin", "--user=ann")
	waitReady(t, ns, "db", 3)

	harness.Eventually(t, "ann may restart the set", func(context.Context) error {
		if said, err := tryPlugin(t, "rollout", "restart", "statefulset/db", "-n", ns, "--as=ann"); err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
		return nil
	})
	set := waitReason(t, ns, v1.StatefulSetReady, v1.ReasonWaitingForPromotion, "step 1/1: 1 of 3 at db-")
	expectAction(t, set, v1.UserAction{Action: v1.RestartUserAction, User: "ann", Revision: set.Status.UpdateRevision}, before)
	first := set.Status.UpdateRevision
	harness.Eventually(t, "bob may promote the step", func(ctx context.Context) error {
		_, err := bob.Rollout(ctx, "db", &v1.StatefulSetRollout{Revision: first, Action: v1.PromoteRollout, Step: 1}, metav1.CreateOptions{})
		return err
	})
	waitUpdated(t, ns)

	forged := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"later"}}}},
		"status":{"userActions":[{"action":"Restart","user":"eve","time":"2020-01-01T00:00:00Z"},{"action":"Abort","user":"eve","time":"2020-01-01T00:00:00Z"}]}}`
	if _, err := bob.Patch(t.Context(), "db", types.MergePatchType, []byte(forged), metav1.PatchOptions{}); err != nil {
		t.Fatalf("restarting as bob: %v", err)
	}
	set = waitReason(t, ns, v1.StatefulSetReady, v1.ReasonWaitingForPromotion, "step 1/1: 1 of 3 at db-")
	second := set.Status.UpdateRevision
	if got := set.Status.UserAction(v1.AbortUserAction); got != nil {
		t.Errorf("before the abort the status has %+v, want nothing of it", got)
	}
	plugin(t, "rollout", "abort", "statefulset/db", "-n", ns, "--as=ann")
	waitReason(t, ns, v1.StatefulSetReady, v1.ReasonRolledBack, "ann has aborted it")
	plugin(t, "replace", "db-1", "-n", ns, "--as=ann", "--wait", "--timeout=2m")

	set = waitReason(t, ns, v1.StatefulSetReady, v1.ReasonRolledBack, "ann has aborted it")
	for _, want := range []v1.UserAction{
		{Action: v1.PromoteUserAction, User: bobName, Revision: first, Step: 1},
		{Action: v1.RestartUserAction, User: bobName, Revision: second},
		{Action: v1.AbortUserAction, User: "ann", Revision: second},
		{Action: v1.ReplaceUserAction, User: "ann"},
	} {
		expectAction(t, set, want, before)
	}
	expectEvents(t, ns, []string{
		"RolloutRestarted ann restarted the set with the update to " + first,
		"RolloutPromoted " + bobName + " promoted step 1 of the update to " + first,
		"RolloutRestarted " + bobName + " restarted the set with the update to " + second,
		"RolloutAborted ann aborted the update to " + second,
		"ReplacementRequested ann requested the replacement of db-1",
	})
	for _, command := range []string{"describe", "tree"} {
		args := map[string][]string{"describe": {"describe", "statefulset/db"}, "tree": {"tree", "db"}}[command]
		if got, want := plugin(t, append(args, "-n", ns)...), "ann aborted the update to "+second+" at "; !strings.Contains(got, want) {
			t.Errorf("kubectl sts %s says\n%s\nwant %q in it", command, got, want)
		}
	}
	expectNoForgery(t, ns)
}

// expectNoForgery has the admin, who may write the status, name another user.
func expectNoForgery(t *testing.T, ns string) {
	t.Helper()
	patch := []byte(`{"status":{"userActions":[{"action":"Abort","user":"eve","time":"2020-01-01T00:00:00Z"}]}}`)
	_, err := suite.Sets.AppsV1().StatefulSets(ns).Patch(t.Context(), "db", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.userActions: Forbidden") {
		t.Errorf("naming another user in the status: got error %v, want it refused", err)
	}
}

// serviceAccount is a client with the rights of an admin of the namespace.
func serviceAccount(t *testing.T, ns, name string) setsv1.StatefulSetInterface {
	t.Helper()
	kubectl(t, "create", "serviceaccount", name, "-n", ns)
	kubectl(t, "create", "rolebinding", name, "-n", ns, "--clusterrole=admin", "--serviceaccount="+ns+":"+name)
	config := rest.AnonymousClientConfig(suite.Config)
	config.BearerToken = strings.TrimSpace(kubectl(t, "create", "token", name, "-n", ns))
	sets, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return sets.AppsV1().StatefulSets(ns)
}

func expectAction(t *testing.T, set *v1.StatefulSet, want v1.UserAction, after time.Time) {
	t.Helper()
	got := set.Status.UserAction(want.Action)
	if got == nil || got.User != want.User || got.Revision != want.Revision || got.Step != want.Step || !got.Observed {
		t.Errorf("the status has %+v, want %+v, observed", got, want)
		return
	}
	if at := got.Time.Time; at.Before(after) || at.After(time.Now().Add(time.Minute)) {
		t.Errorf("%s was at %v, want the time of the request, after %v", want.Action, at, after)
	}
}

// expectEvents wants each event once. wanted has what they begin with.
func expectEvents(t *testing.T, ns string, wanted []string) {
	t.Helper()
	harness.Eventually(t, "each request has an event", func(ctx context.Context) error {
		list, err := suite.Host.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=db"})
		if err != nil {
			return err
		}
		for _, want := range wanted {
			found := 0
			for i := range list.Items {
				e := &list.Items[i]
				if strings.HasPrefix(e.Reason+" "+e.Message, want+" at ") {
					found += max(1, int(e.Count))
				}
			}
			if found != 1 {
				return fmt.Errorf("%d events say %q, want one", found, want)
			}
		}
		return nil
	})
}
