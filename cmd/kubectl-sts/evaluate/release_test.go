// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clienttesting "k8s.io/client-go/testing"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned/fake"
)

func TestReleasing(t *testing.T) {
	stopped := &v1.StatefulSetEvaluation{Inputs: "abc", Fields: []string{"spec.identity.transforms", "spec.objectTemplates[0].outputs"},
		StoppedAt: new(metav1.NewTime(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)))}
	const patch, released = `{"metadata":{"annotations":{"apps.statefulset.dev/evaluate":"2026-02-03T04:05:06Z"},"uid":"uid"}}`,
		"statefulset.apps.statefulset.dev/web: released; the controller evaluates spec.identity.transforms, spec.objectTemplates[0].outputs once more"
	for sentence, test := range map[string]struct {
		mark           *v1.StatefulSetEvaluation
		dryRun         cmdutil.DryRunStrategy
		sent, out, err string
	}{
		"a set whose evaluation is stopped is released from this stop": {mark: stopped, sent: patch, out: released + "\n"},
		"a dry run of the server is sent as one": {
			mark: stopped, dryRun: cmdutil.DryRunServer, sent: patch + " in a dry run", out: released + " (server dry run)\n"},
		"a dry run of the client sends nothing": {mark: stopped, dryRun: cmdutil.DryRunClient, out: released + " (dry run)\n"},
		"a set without a mark is not changed":   {err: `the evaluation of statefulset "web" is not stopped; nothing was changed`},
		"a set that is being evaluated is not changed": {mark: &v1.StatefulSetEvaluation{Inputs: "abc", Holder: "one"},
			err: `the evaluation of statefulset "web" is not stopped; nothing was changed`},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "uid"}}
			set.Status.Evaluation = test.mark
			sets, sent := fake.NewSimpleClientset(set), ""
			sets.PrependReactor("patch", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
				sent = string(action.(clienttesting.PatchAction).GetPatch())
				if len(action.(clienttesting.PatchActionImpl).PatchOptions.DryRun) > 0 {
					sent += " in a dry run"
				}
				return true, set, nil
			})
			var out bytes.Buffer
			err := (&release{sets: sets, namespace: "shop", set: "web", out: &out, dryRun: test.dryRun}).run(t.Context())
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
		"":               "evaluate needs the name of one set, as in: kubectl sts evaluate web",
		"web db x":       "evaluate needs the name of one set, as in: kubectl sts evaluate web",
		"deployment/web": `evaluate is for statefulsets of apps.statefulset.dev, not for "deployment"`,
		"statefulset/":   `"statefulset/" does not name a set`,
	} {
		t.Run(line, func(t *testing.T) {
			r := &release{}
			got := ""
			if err := r.complete(NewCommand(nil, genericiooptions.NewTestIOStreamsDiscard()), strings.Fields(line)); err != nil {
				got = err.Error()
			} else {
				got = r.set
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
