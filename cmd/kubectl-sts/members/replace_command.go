// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/target"
	"statefulset.dev/identity"
)

// WithMembers lets kubectl's command "replace", which accepts files, also accept the names of
// members. The getter must access the cluster without the adapter.
func WithMembers(command *cobra.Command, getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &replacement{out: streams.Out}
	command.Use = "replace (-f FILENAME | MEMBER...)"
	command.Long += "\n\nWith names of members, such as web-2, the controller recreates their pods with their claims, at most as many at a time as may be unavailable. --force then makes the server accept the request although other members are unavailable."
	command.Flags().BoolVar(&r.newClaims, "new-claims", false,
		"First delete the claims of the members with your own rights, so that the members return with new, empty claims. The data is lost.")
	command.Flags().StringVar(&r.lostNode, "lost-node", "",
		"Node of the members' pods that is permanently off: delete the pods at once, with your own rights. Refused unless the node does not exist any more, or is NotReady and tainted node.kubernetes.io/out-of-service.")
	command.Flags().BoolVar(&r.yes, "yes", false, "With --new-claims, do not ask for confirmation.")
	stock := command.Run
	command.Run = func(cmd *cobra.Command, args []string) {
		if len(args) == 0 || cmd.Flag("filename").Changed || cmd.Flag("kustomize").Changed {
			if r.newClaims || r.yes || cmd.Flag("lost-node").Changed {
				cmdutil.CheckErr(errors.New("--new-claims, --lost-node and --yes are for members, as in: kubectl sts replace --new-claims web-2"))
			}
			stock(cmd, args)
			return
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		r.confirm = asking(streams)
		cmdutil.CheckErr(r.complete(cmd, args))
		cmdutil.CheckErr(r.connect(getter))
		cmdutil.CheckErr(r.run(ctx))
	}
	return command
}

// asking returns a function that asks the user, and reports whether the answer is yes.
func asking(streams genericiooptions.IOStreams) func(question string) (bool, error) {
	return func(question string) (bool, error) {
		fmt.Fprint(streams.Out, question)
		answer, err := bufio.NewReader(streams.In).ReadString('\n')
		if err != nil && answer == "" {
			return false, errors.New("no answer; use --yes to continue without confirmation")
		}
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))), nil
	}
}

// complete reads the command line.
func (r *replacement) complete(cmd *cobra.Command, args []string) (err error) {
	followed := []string{"force", "dry-run", "new-claims", "lost-node", "yes", "wait", "timeout"}
	var refused []string
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(followed, flag.Name) {
			refused = append(refused, "--"+flag.Name)
		}
	})
	if len(refused) > 0 {
		return fmt.Errorf("%s cannot be combined with names of members", strings.Join(refused, " and "))
	}
	if r.dryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	r.force, r.wait = cmdutil.GetFlagBool(cmd, "force"), cmdutil.GetFlagBool(cmd, "wait")
	if r.patience = cmdutil.GetFlagDuration(cmd, "timeout"); r.patience < 0 {
		return fmt.Errorf("--timeout is %s, must not be less than 0", r.patience.Round(time.Millisecond))
	}
	switch {
	case r.patience > 0 && !r.wait:
		return errors.New("--timeout requires --wait")
	case r.yes && !r.newClaims:
		return errors.New("--yes requires --new-claims")
	case r.lostNode == "" && cmd.Flag("lost-node").Changed:
		return errors.New("--lost-node needs the name of a node")
	}
	r.set, r.ordinals, err = Named(args)
	return err
}

func (r *replacement) connect(getter genericclioptions.RESTClientGetter) error {
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	r.namespace = aim.Namespace
	if r.sets, err = aim.Sets(); err != nil {
		return err
	}
	if r.host, err = kubernetes.NewForConfig(aim.Config); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	return nil
}

// Each returns a range for each ordinal.
func Each(ordinals []int32) []v1.OrdinalRange {
	ranges := make([]v1.OrdinalRange, len(ordinals))
	for i, ordinal := range ordinals {
		ranges[i].First = ordinal
	}
	return ranges
}

// Named returns the set and the ordinals of the members with these names. It refuses names that no
// member can have, members of several sets, a name that appears twice, and more members than one
// request can replace.
func Named(names []string) (set string, ordinals []int32, err error) {
	for _, arg := range names {
		name := arg
		for _, kind := range []string{"pod/", "pods/"} {
			name = strings.TrimPrefix(name, kind)
		}
		base, ordinal, ok := identity.ParsePodName(name)
		switch {
		case !ok || ordinal > math.MaxInt32:
			return "", nil, fmt.Errorf("%q is not a name of a member; members have names such as web-2", arg)
		case set != "" && base != set:
			return "", nil, fmt.Errorf("%s is a member of set %s, but the others are members of set %s; name members of one set", name, base, set)
		}
		next := int32(ordinal) //nolint:gosec // a larger one was refused
		if slices.Contains(ordinals, next) {
			return "", nil, fmt.Errorf("member %s is named twice", name)
		}
		set, ordinals = base, append(ordinals, next)
	}
	if len(ordinals) > v1.MostReplacements {
		return "", nil, fmt.Errorf("%d members are named, but one request can replace at most %d", len(ordinals), v1.MostReplacements)
	}
	return set, ordinals, nil
}
