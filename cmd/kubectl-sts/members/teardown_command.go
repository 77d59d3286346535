// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/metadata"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/target"
)

const orderedFlag = "ordered"

// WithOrder adds to kubectl's command "delete" the flag that removes the members of a set in order
// before the set. The getter must access the cluster without the adapter.
func WithOrder(command *cobra.Command, getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	var ordered bool
	command.Use = "delete ([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)] | --ordered NAME...)"
	command.Flags().BoolVar(&ordered, orderedFlag, false,
		"Scale sets to 0, wait until their pods have terminated, then delete the sets. Claims follow whenScaled of their set; the command first lists what happens to them. Without --timeout it waits without limit.")
	stock := command.Run
	command.Run = func(cmd *cobra.Command, args []string) {
		if !ordered {
			stock(cmd, args)
			return
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		cmdutil.CheckErr(runTeardown(ctx, cmd, args, getter, streams))
	}
	return command
}

func runTeardown(ctx context.Context, cmd *cobra.Command, args []string, getter genericclioptions.RESTClientGetter,
	streams genericiooptions.IOStreams) error {
	t := &teardown{out: streams.Out}
	names, err := t.complete(cmd, args)
	if err != nil {
		return err
	}
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	t.namespace = aim.Namespace
	if t.sets, err = aim.Sets(); err != nil {
		return err
	}
	if t.objects, err = metadata.NewForConfig(aim.Config); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	return t.run(ctx, names)
}

// complete reads the command line.
func (t *teardown) complete(cmd *cobra.Command, args []string) (names []string, err error) {
	if err := refuseFlags(cmd); err != nil {
		return nil, err
	}
	switch cascade := cmd.Flag("cascade").Value.String(); cascade {
	case "background":
		t.propagation = metav1.DeletePropagationBackground
	case "foreground":
		t.propagation = metav1.DeletePropagationForeground
	default:
		return nil, fmt.Errorf("--cascade is %q, must be background or foreground with --ordered, which removes the members", cascade)
	}
	if t.dryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return nil, err
	}
	t.patience = cmdutil.GetFlagDuration(cmd, "timeout")
	t.ignoreMissing = cmdutil.GetFlagBool(cmd, "ignore-not-found")
	if t.patience < 0 {
		return nil, fmt.Errorf("--timeout is %s, must not be less than 0", t.patience.Round(time.Millisecond))
	}
	return setNames(args)
}

// refuseFlags refuses flags that --ordered does not support. It also refuses flags that kubectl may
// get in the future, because --ordered would ignore them.
func refuseFlags(cmd *cobra.Command) error {
	followed := []string{orderedFlag, "cascade", "dry-run", "ignore-not-found", "timeout"}
	var refused []string
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(followed, flag.Name) {
			refused = append(refused, "--"+flag.Name)
		}
	})
	if len(refused) == 0 {
		return nil
	}
	return fmt.Errorf("%s cannot be combined with --ordered, which needs names of sets, respects the grace periods of pods, and waits",
		strings.Join(refused, " and "))
}

// setNames returns the names of the sets in the arguments of "delete".
func setNames(args []string) ([]string, error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") && target.IsKind(args[0]) {
		args = args[1:]
	}
	var names []string
	for _, arg := range args {
		kind, name, both := strings.Cut(arg, "/")
		switch {
		case !both:
			name = kind
		case !target.IsKind(kind):
			return nil, fmt.Errorf("--ordered is for statefulsets of %s, not for %q", v1.GroupName, kind)
		}
		if name == "" {
			return nil, fmt.Errorf("%q does not name a set", arg)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("--ordered needs the names of sets, as in: kubectl sts delete --ordered web")
	}
	return names, nil
}
