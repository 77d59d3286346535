// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"context"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// decision is the user's decision about the update of a set.
type decision struct {
	sets      versioned.Interface
	namespace string
	out       io.Writer

	set    string
	action v1.RolloutAction
	// step is the last step to promote, 0 for the current step of the update.
	step   int32
	dryRun cmdutil.DryRunStrategy
}

// run sends the decision about the present update. If another update has started when the request
// arrives, the server refuses the request.
func (d *decision) run(ctx context.Context) error {
	set, err := d.sets.AppsV1().StatefulSets(d.namespace).Get(ctx, d.set, metav1.GetOptions{})
	if err != nil {
		return err
	}
	request := &v1.StatefulSetRollout{
		ObjectMeta: metav1.ObjectMeta{Name: set.Name, UID: set.UID}, Revision: set.Status.UpdateRevision, Action: d.action}
	if d.action == v1.PromoteRollout {
		if request.Step = d.stepOf(set); request.Step == 0 {
			return fmt.Errorf("the update of statefulset %q has no current step to promote", d.set)
		}
	}
	if err := d.send(ctx, request); err != nil {
		return err
	}
	_, err = fmt.Fprintf(d.out, "statefulset.%s/%s: %s%s\n", v1.GroupName, d.set, done(request), target.DryRunSuffix(d.dryRun))
	return err
}

// stepOf returns the step to promote, 0 if the update has no current step.
func (d *decision) stepOf(set *v1.StatefulSet) int32 {
	rolling, status := set.Spec.UpdateStrategy.RollingUpdate, set.Status.Rollout
	switch {
	case d.step > 0:
		return d.step
	case rolling == nil || status == nil || status.Revision != set.Status.UpdateRevision || int(status.Step) > len(rolling.Steps):
		return 0
	default:
		return status.Step
	}
}

func (d *decision) send(ctx context.Context, request *v1.StatefulSetRollout) error {
	if d.dryRun == cmdutil.DryRunClient {
		return nil
	}
	options := metav1.CreateOptions{FieldManager: "kubectl-sts", DryRun: target.DryRun(d.dryRun)}
	_, err := d.sets.AppsV1().StatefulSets(d.namespace).Rollout(ctx, d.set, request, options)
	return err
}

// done returns the message about a request that the server accepted.
func done(request *v1.StatefulSetRollout) string {
	switch request.Action {
	case v1.PromoteRollout:
		return fmt.Sprintf("step %d of the update to %s promoted", request.Step, request.Revision)
	case v1.PromoteAllRollout:
		return fmt.Sprintf("all steps of the update to %s promoted", request.Revision)
	default:
		return fmt.Sprintf("update to %s aborted", request.Revision)
	}
}
