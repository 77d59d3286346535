// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"statefulset.dev/cmd/kubectl-sts/target"
)

// checkLost refuses pods that are not on the node that the user says is lost, a node that is not
// known to be lost, and a user who may not delete the pods: nothing was changed by then.
func (r *replacement) checkLost(ctx context.Context, pods map[string]*corev1.Pod) error {
	if r.lostNode == "" {
		return nil
	}
	for _, name := range r.names() {
		switch pod := pods[name]; {
		case pod == nil:
			return fmt.Errorf("member %s has no pod that node %s would have to give up", name, r.lostNode)
		case pod.Spec.NodeName == "":
			return fmt.Errorf("pod %s is on no node; replace it without --lost-node", name)
		case pod.Spec.NodeName != r.lostNode:
			return fmt.Errorf("pod %s is on node %s, not on %s", name, pod.Spec.NodeName, r.lostNode)
		}
	}
	if _, err := r.whyLost(ctx); err != nil || r.dryRun == cmdutil.DryRunClient {
		return err
	}
	return r.deleteLost(ctx, pods, cmdutil.DryRunServer)
}

// removeLost deletes pods without the word of their node that they have ended, if the node is
// lost still. It is the user who says that they have, so it is done with the rights of the user:
// the controller never does it.
func (r *replacement) removeLost(ctx context.Context, pods map[string]*corev1.Pod) error {
	if r.lostNode == "" {
		return nil
	}
	why, err := r.whyLost(ctx)
	if err != nil {
		return fmt.Errorf("the members are replaced when node %s confirms that their pods have ended, and not before: %w", r.lostNode, err)
	}
	for _, name := range r.names() {
		r.say("pod %s is removed although its node cannot confirm that it has ended: %s%s", name, why, target.DryRunSuffix(r.dryRun))
	}
	if r.dryRun == cmdutil.DryRunClient {
		return nil
	}
	return r.deleteLost(ctx, pods, r.dryRun)
}

// deleteLost deletes the pods that were seen, and no others of their names, at once.
func (r *replacement) deleteLost(ctx context.Context, pods map[string]*corev1.Pod, dryRun cmdutil.DryRunStrategy) error {
	for _, name := range r.names() {
		options := metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pods[name].UID)), DryRun: target.DryRun(dryRun)}
		err := r.host.CoreV1().Pods(r.namespace).Delete(ctx, name, options)
		// The host may have been faster, with the same evidence.
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("deleting pod %s: %w", name, err)
		}
	}
	return nil
}

// whyLost says by what it is known that nothing runs on the node any more. An error says why it
// is not: a node that is merely silent may be cut off, and its pods run.
//
// It is what the host itself goes by when it removes pods of lost nodes.
func (r *replacement) whyLost(ctx context.Context) (string, error) {
	node, err := r.host.CoreV1().Nodes().Get(ctx, r.lostNode, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("there is no node %s any more", r.lostNode), nil
	}
	if err != nil {
		return "", fmt.Errorf("reading node %s, of which has to be known that it is lost: %w", r.lostNode, err)
	}
	ready, since := readiness(node)
	if ready {
		return "", fmt.Errorf("node %s is Ready, so its pods may run; its members are replaced without --lost-node", r.lostNode)
	}
	state := fmt.Sprintf("node %s is NotReady%s", r.lostNode, since)
	if !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeOutOfService }) {
		return "", fmt.Errorf("%s, and its pods may run all the same; if it is off for good: kubectl taint node %s %s=nodeshutdown:NoExecute",
			state, r.lostNode, corev1.TaintNodeOutOfService)
	}
	return state + " and tainted " + corev1.TaintNodeOutOfService, nil
}

// readiness reports whether a node says that it is ready, and if not, since when, in words.
func readiness(node *corev1.Node) (ready bool, since string) {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, " since " + c.LastTransitionTime.UTC().Format(time.RFC3339)
		}
	}
	return false, ""
}
