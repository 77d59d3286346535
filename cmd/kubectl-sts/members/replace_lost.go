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

// checkLost refuses pods that are not on the lost node of the user, a node that is not known to be
// lost, and a user who is not allowed to delete the pods. It changes nothing.
func (r *replacement) checkLost(ctx context.Context, pods map[string]*corev1.Pod) error {
	if r.lostNode == "" {
		return nil
	}
	for _, name := range r.names() {
		switch pod := pods[name]; {
		case pod == nil:
			return fmt.Errorf("member %s has no pod, so none is on node %s", name, r.lostNode)
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

// removeLost deletes pods although their node has not confirmed that they have terminated, if the
// node is still lost. The user confirms that instead, so removeLost uses the rights of the user.
// The controller never deletes such pods.
func (r *replacement) removeLost(ctx context.Context, pods map[string]*corev1.Pod) error {
	if r.lostNode == "" {
		return nil
	}
	why, err := r.whyLost(ctx)
	if err != nil {
		return fmt.Errorf("the members are replaced only when node %s confirms that their pods have terminated: %w", r.lostNode, err)
	}
	for _, name := range r.names() {
		r.printf("pod %s is deleted although its node cannot confirm that it has terminated: %s%s", name, why, target.DryRunSuffix(r.dryRun))
	}
	if r.dryRun == cmdutil.DryRunClient {
		return nil
	}
	return r.deleteLost(ctx, pods, r.dryRun)
}

// deleteLost deletes these pods at once, and no other pods of the same names.
func (r *replacement) deleteLost(ctx context.Context, pods map[string]*corev1.Pod, dryRun cmdutil.DryRunStrategy) error {
	for _, name := range r.names() {
		options := metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pods[name].UID)), DryRun: target.DryRun(dryRun)}
		err := r.host.CoreV1().Pods(r.namespace).Delete(ctx, name, options)
		// The cluster may have deleted the pod first, for the same reason.
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("deleting pod %s: %w", name, err)
		}
	}
	return nil
}

// whyLost returns the evidence that nothing runs on the node any more. It returns an error if there
// is no evidence: a node that only does not answer may be disconnected, and its pods may be
// running.
//
// The host cluster uses the same evidence when it removes pods of lost nodes.
func (r *replacement) whyLost(ctx context.Context) (string, error) {
	node, err := r.host.CoreV1().Nodes().Get(ctx, r.lostNode, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("node %s does not exist any more", r.lostNode), nil
	}
	if err != nil {
		return "", fmt.Errorf("checking that node %s is lost: %w", r.lostNode, err)
	}
	ready, since := readiness(node)
	if ready {
		return "", fmt.Errorf("node %s is Ready, so its pods may be running; replace its members without --lost-node", r.lostNode)
	}
	state := fmt.Sprintf("node %s is NotReady%s", r.lostNode, since)
	if !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeOutOfService }) {
		return "", fmt.Errorf("%s, but its pods may still be running; if it is permanently off: kubectl taint node %s %s=nodeshutdown:NoExecute",
			state, r.lostNode, corev1.TaintNodeOutOfService)
	}
	return state + " and tainted " + corev1.TaintNodeOutOfService, nil
}

// readiness reports whether a node is Ready, and since when, as text.
func readiness(node *corev1.Node) (ready bool, since string) {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, " since " + c.LastTransitionTime.UTC().Format(time.RFC3339)
		}
	}
	return false, ""
}
