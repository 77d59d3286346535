// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

var noon = metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

// machine is a node that says whether it is ready, with taints of these keys.
func machine(ready corev1.ConditionStatus, taints ...string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-b"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: noon}}
	for _, key := range taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
	}
	return node
}

// on puts the pods of the members on a node, and says what becomes of their deletion.
func (o *office) on(t *testing.T, name string, refusal error) {
	t.Helper()
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	for ordinal := range 3 {
		obj, err := o.host.Tracker().Get(pods, "shop", fmt.Sprintf("web-%d", ordinal))
		if err != nil {
			t.Fatal(err)
		}
		pod := obj.(*corev1.Pod).DeepCopy()
		pod.Spec.NodeName = name
		if err := o.host.Tracker().Update(pods, pod, "shop"); err != nil {
			t.Fatal(err)
		}
	}
	o.host.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deletion := action.(clienttesting.DeleteActionImpl)
		options := deletion.DeleteOptions
		o.writes = append(o.writes, strings.TrimSpace(fmt.Sprintf("delete %s %s within %ds %s", deletion.Name, *options.Preconditions.UID,
			*options.GracePeriodSeconds, strings.Join(options.DryRun, ""))))
		return true, nil, refusal
	})
}

func TestReplacingMembersOfALostNode(t *testing.T) {
	const (
		asked      = "replace web of web-uid 2"
		tried      = "delete web-2 pod-2 within 0s All"
		removed    = "delete web-2 pod-2 within 0s"
		outOfOrder = "web-2 will be replaced\npod web-2 is deleted although its node cannot confirm that it has terminated: node node-b is NotReady since 2026-01-01T12:00:00Z and tainted node.kubernetes.io/out-of-service"
		silent     = "nothing was changed: node node-b is NotReady since 2026-01-01T12:00:00Z, but its pods may still be running; if it is permanently off: kubectl taint node node-b node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
	)
	off := machine(corev1.ConditionUnknown, corev1.TaintNodeUnreachable, corev1.TaintNodeOutOfService)
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "web-2", errors.New("you may not"))
	for sentence, test := range map[string]struct {
		node *corev1.Node
		// then is the node when it is looked at again.
		then    *corev1.Node
		on      string
		as      func(*replacement)
		refusal error
		writes  []string
		out     string
		err     string
	}{
		"of which somebody says that it is off": {node: off, writes: []string{tried, asked, removed}, out: outOfOrder},
		"that says itself that it is not ready": {
			node: machine(corev1.ConditionFalse, corev1.TaintNodeOutOfService), writes: []string{tried, asked, removed}, out: outOfOrder},
		"that the cluster does not have any more": {writes: []string{tried, asked, removed},
			out: "web-2 will be replaced\npod web-2 is deleted although its node cannot confirm that it has terminated: node node-b does not exist any more"},
		"that is silent": {node: machine(corev1.ConditionUnknown, corev1.TaintNodeUnreachable), err: silent},
		"that is ready": {node: machine(corev1.ConditionTrue),
			err: "nothing was changed: node node-b is Ready, so its pods may be running; replace its members without --lost-node"},
		"that is ready, and tainted": {node: machine(corev1.ConditionTrue, corev1.TaintNodeOutOfService),
			err: "nothing was changed: node node-b is Ready, so its pods may be running; replace its members without --lost-node"},
		"that the pod is not on":     {on: "node-a", node: off, err: "nothing was changed: pod web-2 is on node node-a, not on node-b"},
		"whose pod waits for a node": {on: "-", node: off, err: "nothing was changed: pod web-2 is on no node; replace it without --lost-node"},
		"whose member has no pod": {node: off, as: func(r *replacement) { r.ordinals = []int32{7} },
			err: "nothing was changed: member web-7 has no pod, so none is on node node-b"},
		"without the right to do it": {node: off, refusal: forbidden, writes: []string{tried},
			err: `nothing was changed: deleting pod web-2: pods "web-2" is forbidden: you may not`},
		"when the host was faster": {
			node: off, refusal: apierrors.NewNotFound(corev1.Resource("pods"), "web-2"), writes: []string{tried, asked, removed}, out: outOfOrder},
		"when another pod has come": {node: off, refusal: apierrors.NewConflict(corev1.Resource("pods"), "web-2",
			errors.New("the UID is another")), writes: []string{tried, asked, removed}, out: outOfOrder},
		"that comes back in that time": {
			node: off, then: machine(corev1.ConditionTrue), writes: []string{tried, asked}, out: "web-2 will be replaced",
			err: "the members are replaced only when node node-b confirms that their pods have terminated: node node-b is Ready, so its pods may be running; replace its members without --lost-node"},
		"with new claims": {node: off, as: func(r *replacement) { r.newClaims, r.yes = true, true },
			writes: []string{tried, asked + " in a dry run", "delete data-web-2 claim-2", asked, removed},
			out:    "claim data-web-2 (1Gi) will be deleted with all its data\n" + outOfOrder},
		"with new claims, keeps those of a node that is silent": {
			node: machine(corev1.ConditionUnknown), as: func(r *replacement) { r.newClaims, r.yes = true, true }, err: silent},
		"with new claims, keeps those of a pod that may not be deleted": {node: off, as: func(r *replacement) { r.newClaims, r.yes = true, true },
			refusal: forbidden, writes: []string{tried}, err: `nothing was changed: deleting pod web-2: pods "web-2" is forbidden: you may not`},
		"in a dry run of the client": {node: off, as: func(r *replacement) { r.dryRun = cmdutil.DryRunClient },
			out: strings.ReplaceAll(outOfOrder, "\n", " (dry run)\n") + " (dry run)"},
		"in a dry run of the server": {node: off, as: func(r *replacement) { r.dryRun = cmdutil.DryRunServer },
			writes: []string{tried, asked + " in a dry run", tried},
			out:    strings.ReplaceAll(outOfOrder, "\n", " (server dry run)\n") + " (server dry run)"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			on := test.on
			if on == "" {
				on = "node-b"
			}
			o.on(t, strings.Trim(on, "-"), test.refusal)
			looks := 0
			o.host.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
				node := test.node
				if looks++; looks > 1 && test.then != nil {
					node = test.then
				}
				if node == nil {
					return true, nil, apierrors.NewNotFound(corev1.Resource("nodes"), "node-b")
				}
				return true, node, nil
			})
			r := &replacement{sets: o.sets, host: o.host, namespace: "shop", out: &o.out, set: "web", ordinals: []int32{2}, lostNode: "node-b",
				patience: 20 * time.Second}
			if test.as != nil {
				test.as(r)
			}
			err := r.run(t.Context())
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if !slices.Equal(o.writes, test.writes) {
				t.Errorf("got writes\n%q\nwant\n%q", o.writes, test.writes)
			}
			if got := strings.TrimSpace(strings.ReplaceAll(o.out.String(), "statefulset.apps.statefulset.dev/web: ", "")); got != test.out {
				t.Errorf("it said\n%s\nwant\n%s", got, test.out)
			}
		})
	}
}
