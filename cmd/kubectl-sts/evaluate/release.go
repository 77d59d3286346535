// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// release lets the controller evaluate the expressions of a set once more.
type release struct {
	sets      versioned.Interface
	namespace string
	out       io.Writer

	set    string
	dryRun cmdutil.DryRunStrategy
}

// run releases the stop that the user sees now: a later one needs another release.
func (r *release) run(ctx context.Context) error {
	set, err := r.sets.AppsV1().StatefulSets(r.namespace).Get(ctx, r.set, metav1.GetOptions{})
	if err != nil {
		return err
	}
	mark := set.Status.Evaluation
	if !mark.IsStopped() {
		return fmt.Errorf("the evaluation of statefulset %q is not stopped; nothing was changed", r.set)
	}
	if err := r.annotate(ctx, set); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, "statefulset.%s/%s: released; the controller evaluates %s once more%s\n",
		v1.GroupName, r.set, strings.Join(mark.Fields, ", "), target.DryRunSuffix(r.dryRun))
	return err
}

// annotate writes the annotation that releases this stop of this set, and no other.
func (r *release) annotate(ctx context.Context, set *v1.StatefulSet) error {
	if r.dryRun == cmdutil.DryRunClient {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": set.UID, "annotations": map[string]string{v1.EvaluateAnnotation: set.Status.Evaluation.Release()},
	}})
	if err != nil {
		return fmt.Errorf("encoding the annotation: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: "kubectl-sts", DryRun: target.DryRun(r.dryRun)}
	_, err = r.sets.AppsV1().StatefulSets(r.namespace).Patch(ctx, r.set, types.MergePatchType, patch, options)
	return err
}
