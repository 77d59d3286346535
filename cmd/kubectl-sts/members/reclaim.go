// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"statefulset.dev/identity"
)

// mostReclaimed is of how many members the claims are deleted by one command.
const mostReclaimed = 256

// NewReclaimCommand is the command that deletes the claims of members that a set does not want,
// with the user's own rights. The getter must lead to the cluster as it is.
func NewReclaimCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &replacement{out: streams.Out, confirm: asking(streams)}
	var ordinals string
	command := &cobra.Command{
		Use:   "reclaim NAME --ordinals=RANGES",
		Short: "Delete the claims, or objects, of members that a set does not want any more",
		Long: templates.LongDesc(`
			Deletes the claims of members that a set does not want any more, and their data, or with --objects the objects that
			the set has made for them, with your own rights, without waiting until they are due. Refused as a whole if one of
			the members is wanted or has a pod.`),
		Example: templates.Examples(`
			# Say which claims those are of members that were scaled in
			kubectl sts reclaim db --ordinals=3-4 --dry-run=server

			# Delete them
			kubectl sts reclaim db --ordinals=3-4,7

			# Delete their Services, ConfigMaps and other objects
			kubectl sts reclaim db --ordinals=3-4,7 --objects`),
		Args: cobra.ExactArgs(1),
		Run: func(cmd *cobra.Command, args []string) {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			var err error
			r.set = args[0]
			r.ordinals, err = parseOrdinals(ordinals)
			cmdutil.CheckErr(err)
			r.dryRun, err = cmdutil.GetDryRunStrategy(cmd)
			cmdutil.CheckErr(err)
			cmdutil.CheckErr(r.connect(getter))
			if r.ofObjects {
				cmdutil.CheckErr(r.connectObjects(getter))
			}
			cmdutil.CheckErr(r.reclaim(ctx))
		},
	}
	command.Flags().StringVar(&ordinals, "ordinals", "", "The ordinals of the members, as in 3-4,7.")
	command.Flags().BoolVar(&r.ofObjects, "objects", false, "Delete the objects that templates of the set describe, and no claims.")
	command.Flags().BoolVar(&r.yes, "yes", false, "Do not ask.")
	cmdutil.AddDryRunFlag(command)
	if err := command.MarkFlagRequired("ordinals"); err != nil {
		panic(err) // the flag is defined above
	}
	return command
}

// reclaim deletes the claims, or the objects, of members that the set does not want.
func (r *replacement) reclaim(ctx context.Context) error {
	set, err := r.sets.AppsV1().StatefulSets(r.namespace).Get(ctx, r.set, metav1.GetOptions{})
	if err != nil {
		return err
	}
	wanted := identity.OrdinalsOf(set)
	for _, ordinal := range r.ordinals {
		switch {
		case wanted.Contains(int(ordinal)) && r.ofObjects:
			return fmt.Errorf("the set wants member %s; nothing was deleted", identity.PodName(r.set, int(ordinal)))
		case wanted.Contains(int(ordinal)):
			return fmt.Errorf(
				"the set wants member %s; nothing was deleted; to give the claims of a wanted member up: kubectl sts replace %[1]s --new-claims",
				identity.PodName(r.set, int(ordinal)))
		}
	}
	pods, err := r.pods(ctx)
	if err != nil {
		return err
	}
	for _, name := range r.names() {
		if pods[name] != nil {
			what := "claims"
			if r.ofObjects {
				what = "objects"
			}
			return fmt.Errorf("pod %s exists, and its %s stay until it is gone; nothing was deleted", name, what)
		}
	}
	if r.ofObjects {
		return r.reclaimObjects(ctx, set)
	}
	claims, err := r.claims(ctx, set)
	if err != nil {
		return err
	}
	_, err = r.giveUp(ctx, claims)
	return err
}

// parseOrdinals reads ordinals and ranges of them, separated by commas.
func parseOrdinals(text string) (ordinals []int32, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, firstErr := strconv.ParseInt(low, 10, 32)
		last, lastErr := strconv.ParseInt(high, 10, 32)
		if firstErr != nil || lastErr != nil || first < 0 || last < first || last == math.MaxInt32 {
			return nil, fmt.Errorf("--ordinals has %q, must be ordinals and ranges of them, as in 3-4,7", part)
		}
		if int(last-first)+len(ordinals) >= mostReclaimed {
			return nil, fmt.Errorf("--ordinals has more than %d ordinals", mostReclaimed)
		}
		for ordinal := int32(first); int64(ordinal) <= last; ordinal++ {
			ordinals = append(ordinals, ordinal)
		}
	}
	slices.Sort(ordinals)
	return slices.Compact(ordinals), nil
}
