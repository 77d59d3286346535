// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clienttesting "k8s.io/client-go/testing"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned/fake"
)

func TestDeciding(t *testing.T) {
	for sentence, test := range map[string]struct {
		decision decision
		status   *v1.RolloutStatus
		refusal  error
		sent     string
		out, err string
	}{
		"the step that the update is at is promoted": {
			decision: decision{action: v1.PromoteRollout}, status: &v1.RolloutStatus{Revision: "web-b", Step: 2},
			sent: "Promote 2 of web-b for uid", out: "statefulset.apps.statefulset.dev/web: step 2 of the update to web-b promoted\n"},
		"the step that the user names is promoted": {decision: decision{action: v1.PromoteRollout, step: 1}, sent: "Promote 1 of web-b for uid",
			out: "statefulset.apps.statefulset.dev/web: step 1 of the update to web-b promoted\n"},
		"all steps are promoted": {decision: decision{action: v1.PromoteAllRollout}, sent: "PromoteAll 0 of web-b for uid",
			out: "statefulset.apps.statefulset.dev/web: all steps of the update to web-b promoted\n"},
		"an update is aborted": {decision: decision{action: v1.AbortRollout}, sent: "Abort 0 of web-b for uid",
			out: "statefulset.apps.statefulset.dev/web: update to web-b aborted\n"},
		"a dry run of the server is one": {
			decision: decision{action: v1.AbortRollout, dryRun: cmdutil.DryRunServer}, sent: "Abort 0 of web-b for uid in a dry run",
			out: "statefulset.apps.statefulset.dev/web: update to web-b aborted (server dry run)\n"},
		"a dry run of the client sends nothing": {decision: decision{action: v1.AbortRollout, dryRun: cmdutil.DryRunClient},
			out: "statefulset.apps.statefulset.dev/web: update to web-b aborted (dry run)\n"},
		"an update that is past its steps has none to promote": {
			decision: decision{action: v1.PromoteRollout}, status: &v1.RolloutStatus{Revision: "web-b", Step: 3},
			err: `the update of statefulset "web" has no current step to promote`},
		"one of which nothing is known has none": {
			decision: decision{action: v1.PromoteRollout}, status: &v1.RolloutStatus{Revision: "web-a", Step: 1},
			err: `the update of statefulset "web" has no current step to promote`},
		"a refusal is reported": {
			decision: decision{action: v1.AbortRollout}, refusal: errors.New("too late"), sent: "Abort 0 of web-b for uid", err: "too late"},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "uid"}}
			set.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{
				Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1)}, {Updated: intstr.FromInt32(2)}}}
			set.Status.UpdateRevision, set.Status.Rollout = "web-b", test.status
			sets, sent := fake.NewSimpleClientset(set), ""
			sets.PrependReactor("create", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
				create := action.(clienttesting.CreateActionImpl)
				request := create.Object.(*v1.StatefulSetRollout)
				sent = fmt.Sprintf("%s %d of %s for %s", request.Action, request.Step, request.Revision, request.UID)
				if len(create.CreateOptions.DryRun) > 0 {
					sent += " in a dry run"
				}
				return true, request, test.refusal
			})
			var out bytes.Buffer
			test.decision.sets, test.decision.namespace, test.decision.set, test.decision.out = sets, "shop", "web", &out
			err := test.decision.run(t.Context())
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if sent != test.sent || out.String() != test.out {
				t.Errorf("sent %q and printed %q, want %q and %q", sent, out.String(), test.sent, test.out)
			}
		})
	}
}

func TestTheCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"web": "web", "sts/web": "web", "statefulset web": "web", "statefulsets.apps.statefulset.dev/web": "web",
		"":               "promote needs the name of one set, as in: kubectl sts rollout promote statefulset/web",
		"web db x":       "promote needs the name of one set, as in: kubectl sts rollout promote statefulset/web",
		"deployment/web": `promote is for statefulsets of apps.statefulset.dev, not for "deployment"`,
		"statefulset/":   `"statefulset/" does not name a set`,
	} {
		t.Run(line, func(t *testing.T) {
			root := WithDecisions(&cobra.Command{Use: "rollout"}, nil, genericiooptions.NewTestIOStreamsDiscard())
			command, _, err := root.Find([]string{"promote"})
			if err != nil {
				t.Fatal(err)
			}
			d := &decision{}
			got := ""
			if err := d.complete(command, strings.Fields(line)); err != nil {
				got = err.Error()
			} else {
				got = d.set
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
