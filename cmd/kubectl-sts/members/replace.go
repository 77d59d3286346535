// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/cmd/kubectl-sts/target"
	"statefulset.dev/identity"
)

// replacement replaces members of one set.
type replacement struct {
	sets versioned.Interface
	host kubernetes.Interface
	// objects and kinds are clients for objects of object templates. They are nil in a command that
	// does not use them.
	objects   metadata.Interface
	kinds     meta.RESTMapper
	namespace string
	out       io.Writer
	// confirm asks the user, and reports whether the answer is yes.
	confirm func(question string) (bool, error)

	set      string
	ordinals []int32
	// ofObjects is true if the command deletes objects instead of claims.
	ofObjects bool
	// lostNode is the node with the pods of the members, which is lost according to the user.
	lostNode string

	dryRun                      cmdutil.DryRunStrategy
	force, newClaims, yes, wait bool
	// patience is the maximum time in which the members return, 0 for no limit.
	patience time.Duration
}

// run replaces the members of the set that exists now.
func (r *replacement) run(ctx context.Context) error {
	set, err := r.sets.AppsV1().StatefulSets(r.namespace).Get(ctx, r.set, metav1.GetOptions{})
	if err != nil {
		return err
	}
	before, err := r.pods(ctx)
	if err != nil {
		return err
	}
	if err := r.checkLost(ctx, before); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	lost := 0
	if r.newClaims {
		var agreed bool
		if lost, agreed, err = r.renewClaims(ctx, set); err != nil || !agreed {
			return err
		}
	}
	switch err := r.ask(ctx, set.UID, r.dryRun); {
	case err != nil && lost > 0 && r.dryRun == cmdutil.DryRunNone:
		return fmt.Errorf(
			"the claims are being deleted, but the members were not replaced: they still use these claims, which are deleted with their pods; try again with --force: %w", err)
	case err != nil:
		return err
	}
	r.printf("%s will be replaced%s", strings.Join(r.names(), ", "), target.DryRunSuffix(r.dryRun))
	if err := r.removeLost(ctx, before); err != nil {
		return err
	}
	if !r.wait || r.dryRun != cmdutil.DryRunNone {
		return nil
	}
	return r.await(ctx, before)
}

// ask requests the replacement of members from the server, if the set still has this UID.
func (r *replacement) ask(ctx context.Context, set types.UID, dryRun cmdutil.DryRunStrategy) error {
	if dryRun == cmdutil.DryRunClient {
		return nil
	}
	options := metav1.CreateOptions{FieldManager: "kubectl-sts", DryRun: target.DryRun(dryRun)}
	request := &v1.StatefulSetReplacement{
		ObjectMeta: metav1.ObjectMeta{Name: r.set, UID: set}, Ordinals: Each(r.ordinals), Force: r.force, LostNode: r.lostNode}
	_, err := r.sets.AppsV1().StatefulSets(r.namespace).Replace(ctx, r.set, request, options)
	return err
}

// pods returns the current pods of the members, by their names.
func (r *replacement) pods(ctx context.Context) (map[string]*corev1.Pod, error) {
	pods := map[string]*corev1.Pod{}
	for _, name := range r.names() {
		pod, err := r.host.CoreV1().Pods(r.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("reading pod %s: %w", name, err)
		}
		if err == nil {
			pods[name] = pod
		}
	}
	return pods, nil
}

// names returns the names of the members.
func (r *replacement) names() []string {
	names := make([]string, len(r.ordinals))
	for i, ordinal := range r.ordinals {
		names[i] = identity.PodName(r.set, int(ordinal))
	}
	return names
}

func (r *replacement) printf(format string, values ...any) {
	fmt.Fprintf(r.out, "statefulset.%s/%s: %s\n", v1.GroupName, r.set, fmt.Sprintf(format, values...))
}
