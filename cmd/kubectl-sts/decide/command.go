// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// WithDecisions adds "promote" and "abort" to kubectl's command "rollout". They decide about an
// update with steps. The getter must access the cluster without the adapter.
func WithDecisions(rollout *cobra.Command, getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	rollout.AddCommand(promoteCommand(getter, streams), abortCommand(getter, streams))
	return rollout
}

func promoteCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	d := &decision{out: streams.Out, action: v1.PromoteRollout}
	var all bool
	command := &cobra.Command{
		Use:   "promote (NAME | TYPE/NAME) [--step=N | --all]",
		Short: "Approve a step of an update",
		Long: "Approve a step of an update, so that the update can continue.\n\nA step is complete only when its members have also been available for long enough and its conditions are True. " +
			"With --all the steps end, and the update continues to all members.",
	}
	command.Flags().Int32Var(&d.step, "step", 0, "Last step to promote, from 1. Without it, the current step of the update.")
	command.Flags().BoolVar(&all, "all", false, "End the steps: the update no longer waits for anything that they require.")
	return d.finish(command, getter, func() error {
		switch {
		case all && command.Flags().Changed("step"):
			return errors.New("--step and --all cannot be combined")
		case command.Flags().Changed("step") && d.step < 1:
			return fmt.Errorf("--step is %d, must be 1 or more", d.step)
		case all:
			d.action = v1.PromoteAllRollout
		}
		return nil
	})
}

func abortCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	d := &decision{out: streams.Out, action: v1.AbortRollout}
	return d.finish(&cobra.Command{
		Use:   "abort (NAME | TYPE/NAME)",
		Short: "Return the members of an update to the current revision",
		Long: "Return the members that an update has reached to the current revision, in the order and at the pace of an update.\n\n" +
			"The template does not change. The update is not tried again until the template changes; \"rollout restart\" changes it.",
	}, getter, func() error { return nil })
}

// finish adds the parts that both commands share.
func (d *decision) finish(command *cobra.Command, getter genericclioptions.RESTClientGetter, check func() error) *cobra.Command {
	command.DisableFlagsInUseLine = true
	cmdutil.AddDryRunFlag(command)
	command.Run = func(cmd *cobra.Command, args []string) {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		cmdutil.CheckErr(d.complete(cmd, args))
		cmdutil.CheckErr(check())
		cmdutil.CheckErr(d.connect(getter))
		cmdutil.CheckErr(d.run(ctx))
	}
	return command
}

// complete reads the command line.
func (d *decision) complete(cmd *cobra.Command, args []string) (err error) {
	if d.dryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	kind, name, ok := target.OneSet(args)
	if !ok {
		return fmt.Errorf("%s needs the name of one set, as in: kubectl sts rollout %s statefulset/web", cmd.Name(), cmd.Name())
	}
	if !target.IsKind(kind) {
		return fmt.Errorf("%s is for statefulsets of %s, not for %q", cmd.Name(), v1.GroupName, kind)
	}
	if name == "" {
		return fmt.Errorf("%q does not name a set", args[0])
	}
	d.set = name
	return nil
}

func (d *decision) connect(getter genericclioptions.RESTClientGetter) error {
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	d.namespace = aim.Namespace
	d.sets, err = aim.Sets()
	return err
}
