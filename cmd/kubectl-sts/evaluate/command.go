// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// NewCommand returns the command "evaluate". The getter must access the cluster without the
// adapter.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &release{out: streams.Out}
	command := &cobra.Command{
		Use:   "evaluate (NAME | TYPE/NAME)",
		Short: "Let the controller evaluate the expressions of a set once more",
		Long: templates.LongDesc(`
			Let the controller evaluate the expressions of a set once more. The controller stops evaluating the
			expressions of a set if its processes end during the evaluation (reason EvaluationStopped).

			The expressions are evaluated alone. If the process ends again, the evaluation is stopped again. A change of
			the expressions, or of the values that they read, also releases the set.`),
		Example: templates.Examples(`
			# Show which expressions are not evaluated any more
			kubectl sts tree db

			# Evaluate them once more
			kubectl sts evaluate db`),
		DisableFlagsInUseLine: true,
		Run: func(cmd *cobra.Command, args []string) {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			cmdutil.CheckErr(r.complete(cmd, args))
			cmdutil.CheckErr(r.connect(getter))
			cmdutil.CheckErr(r.run(ctx))
		},
	}
	cmdutil.AddDryRunFlag(command)
	return command
}

// complete reads the command line.
func (r *release) complete(cmd *cobra.Command, args []string) (err error) {
	if r.dryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	kind, name, ok := target.OneSet(args)
	switch {
	case !ok:
		return fmt.Errorf("%s needs the name of one set, as in: kubectl sts %s web", cmd.Name(), cmd.Name())
	case !target.IsKind(kind):
		return fmt.Errorf("%s is for statefulsets of %s, not for %q", cmd.Name(), v1.GroupName, kind)
	case name == "":
		return fmt.Errorf("%q does not name a set", args[0])
	}
	r.set = name
	return nil
}

func (r *release) connect(getter genericclioptions.RESTClientGetter) error {
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	r.namespace = aim.Namespace
	r.sets, err = aim.Sets()
	return err
}
