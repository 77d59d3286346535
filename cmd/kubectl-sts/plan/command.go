// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// request is the request of the command line.
type request struct {
	sets      versioned.Interface
	namespace string
	change    change
	output    string
}

// NewCommand returns the command "plan". The getter must access the cluster without the adapter
// through which kubectl's own commands see our sets.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &request{change: change{replicas: unchanged}}
	command := &cobra.Command{
		Use:   "plan (NAME | -f FILE) [--replicas=COUNT | --remove=MEMBER] [--image=CONTAINER=IMAGE] [--promote=STEP | --promote-all | --abort | --replace=MEMBER]",
		Short: "Show what the controller does for a set, or would do after a change",
		Long: "Show the actions that the controller plans for a set, in order, and what it waits for.\n" +
			"With a file, or with flags that change the set, show all effects of the change, step by step,\n" +
			"until the set is in the desired state or is blocked. The command changes nothing in the cluster.\n\n" +
			"If a file does not specify the number of replicas, the set keeps its number of replicas.",
		Example: "  # What does the controller do for this set now, and what does it wait for?\n  kubectl sts plan web\n\n" +
			"  # What would applying this file lead to?\n  kubectl sts plan -f web.yaml\n\n" +
			"  # What would a new image, or another number of members, lead to?\n" +
			"  kubectl sts plan web --image=nginx=nginx:1.29\n  kubectl sts plan web --replicas=2 -o yaml\n\n" +
			"  # What would the removal of one member lead to?\n  kubectl sts plan web --remove=web-1\n\n" +
			"  # What would promoting an update, or aborting it, lead to?\n  kubectl sts plan web --promote-all\n  kubectl sts plan web --abort\n\n" +
			"  # What would replacing a member lead to?\n  kubectl sts plan web --replace=web-1",
		Args:          cobra.MaximumNArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.complete(getter, args); err != nil {
				return err
			}
			return r.run(cmd.Context(), args, streams)
		},
	}
	command.Flags().StringVarP(&r.change.file, "filename", "f", "", "File with the changed set, or - for standard input.")
	command.Flags().Int32Var(&r.change.replicas, "replicas", unchanged, "Number of members that the set would have.")
	command.Flags().StringSliceVar(&r.change.removed, "remove", nil, "Members that would be removed, such as web-2.")
	command.Flags().StringArrayVar(&r.change.images, "image", nil,
		"Image that a container would have, as CONTAINER=IMAGE. Can be repeated.")
	command.Flags().Int32Var(&r.change.promoted, "promote", 0, "Last step of the update that would be promoted, from 1.")
	command.Flags().BoolVar(&r.change.promotedAll, "promote-all", false, "All steps of the update would end.")
	command.Flags().BoolVar(&r.change.aborted, "abort", false, "The update would be aborted.")
	command.Flags().StringSliceVar(&r.change.replaced, "replace", nil, "Members that would be replaced, such as web-2.")
	command.Flags().BoolVar(&r.change.forced, "force", false, "With --replace, the members would be replaced although others are unavailable.")
	command.Flags().StringVarP(&r.output, "output", "o", "", "Output format: yaml or json. Text by default.")
	return command
}

func (r *request) complete(getter genericclioptions.RESTClientGetter, args []string) error {
	if (r.change.file == "") == (len(args) == 0) {
		return errors.New("name one set, or specify a file with -f")
	}
	if err := r.change.validate(); err != nil {
		return err
	}
	if r.output != "" && r.output != "yaml" && r.output != "json" {
		return fmt.Errorf("--output is %q, must be yaml or json", r.output)
	}
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	r.namespace = aim.Namespace
	r.sets, err = aim.Sets()
	return err
}

func (r *request) run(ctx context.Context, args []string, streams genericiooptions.IOStreams) error {
	plans, err := r.ask(ctx, args, streams.In)
	if err != nil {
		return err
	}
	for i, plan := range plans {
		if err := write(streams.Out, plan, r.output, i > 0); err != nil {
			return err
		}
	}
	return stuck(plans)
}

// stuck returns an error for a plan that does not reach its goal, so that the exit code reports it.
func stuck(plans []*v1.StatefulSetPlan) error {
	for _, plan := range plans {
		if plan.Outcome == v1.PlanStuck {
			return fmt.Errorf("set %s would be blocked: %s: %s", plan.Name, plan.Reason, plan.Message)
		}
	}
	return nil
}
