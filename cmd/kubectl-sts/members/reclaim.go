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

// mostReclaimed is the maximum number of members whose claims one command deletes.
const mostReclaimed = 256

// NewReclaimCommand returns the command that deletes the claims of removed members, with the user's
// own rights. The getter must access the cluster without the adapter.
func NewReclaimCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &replacement{out: streams.Out, confirm: asking(streams)}
	var ordinals string
	command := &cobra.Command{
		Use:   "reclaim NAME --ordinals=RANGES",
		Short: "Delete the claims, or objects, of members that were removed from a set",
		Long: templates.LongDesc(`
			Delete the claims of members that were removed from a set, with their data. With --objects, delete the objects
			that the set created for these members instead. The command uses your own rights, and does not wait until the
			claims or objects are due. It deletes nothing if the set still has one of the members, or if one has a pod.`),
		Example: templates.Examples(`
			# Show the claims of removed members
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
	command.Flags().StringVar(&ordinals, "ordinals", "", "Ordinals of the members, such as 3-4,7.")
	command.Flags().BoolVar(&r.ofObjects, "objects", false, "Delete the objects of the set's object templates, and no claims.")
	command.Flags().BoolVar(&r.yes, "yes", false, "Do not ask for confirmation.")
	cmdutil.AddDryRunFlag(command)
	if err := command.MarkFlagRequired("ordinals"); err != nil {
		panic(err) // the flag is defined above
	}
	return command
}

// reclaim deletes the claims, or the objects, of members that the set no longer has.
func (r *replacement) reclaim(ctx context.Context) error {
	set, err := r.sets.AppsV1().StatefulSets(r.namespace).Get(ctx, r.set, metav1.GetOptions{})
	if err != nil {
		return err
	}
	wanted := identity.OrdinalsOf(set)
	for _, ordinal := range r.ordinals {
		switch {
		case wanted.Contains(int(ordinal)) && r.ofObjects:
			return fmt.Errorf("%s is a member of the set; nothing was deleted", identity.PodName(r.set, int(ordinal)))
		case wanted.Contains(int(ordinal)):
			return fmt.Errorf(
				"%s is a member of the set; nothing was deleted; to replace its claims with new, empty ones: kubectl sts replace %[1]s --new-claims",
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
			return fmt.Errorf("pod %s exists, so its %s cannot be deleted yet; nothing was deleted", name, what)
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

// parseOrdinals parses ordinals and ranges of ordinals, separated by commas.
func parseOrdinals(text string) (ordinals []int32, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, firstErr := strconv.ParseInt(low, 10, 32)
		last, lastErr := strconv.ParseInt(high, 10, 32)
		if firstErr != nil || lastErr != nil || first < 0 || last < first || last == math.MaxInt32 {
			return nil, fmt.Errorf("--ordinals has %q, must be ordinals or ranges of ordinals, such as 3-4,7", part)
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
