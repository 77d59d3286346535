// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/retry"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// WithRemoval adds to kubectl's command "scale" the flag that removes members by name. The getter
// must access the cluster without the adapter.
func WithRemoval(command *cobra.Command, getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	var names []string
	command.Use = "scale (--replicas=COUNT | --remove=MEMBER) (-f FILENAME | TYPE NAME)"
	command.Example += "\n\n  # Remove exactly member web-2, whatever its ordinal\n  kubectl sts scale statefulset/web --remove=web-2"
	command.Flags().StringSliceVar(&names, "remove", nil,
		"Members to remove, such as web-2. One write reserves their ordinals, so that no member uses them, and lowers replicas by their number.")
	scale, before := command.Run, command.PreRun
	command.PreRun = func(cmd *cobra.Command, args []string) {
		if before != nil {
			before(cmd, args)
		}
		if len(names) > 0 {
			delete(cmd.Flag("replicas").Annotations, cobra.BashCompOneRequiredFlag)
		}
	}
	command.Run = func(cmd *cobra.Command, args []string) {
		if len(names) == 0 {
			scale(cmd, args)
			return
		}
		cmdutil.CheckErr(runRemoval(cmd, args, names, getter, streams))
	}
	return command
}

func runRemoval(
	cmd *cobra.Command, args, names []string, getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams,
) error {
	if cmd.Flag("replicas").Changed {
		return errors.New("use either --replicas or --remove: --remove lowers replicas by the number of removed members")
	}
	name, err := setName(args)
	if err != nil {
		return err
	}
	dryRun, err := cmdutil.GetDryRunStrategy(cmd)
	if err != nil {
		return err
	}
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	sets, err := aim.Sets()
	if err != nil {
		return err
	}
	s := &scaler{sets: sets, namespace: aim.Namespace, dryRun: dryRun}
	left, err := s.remove(cmd.Context(), name, names)
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, "statefulset.%s/%s: %s removed, %d replicas left%s\n", v1.GroupName, name, strings.Join(names, ", "), left,
		target.DryRunSuffix(dryRun))
	return nil
}

// setName returns the name of the one set in the arguments of "scale".
func setName(args []string) (string, error) {
	kind, name, _ := target.OneSet(args)
	if name == "" {
		return "", errors.New("--remove needs the name of one set, as in statefulset/web")
	}
	if !target.IsKind(kind) {
		return "", fmt.Errorf("--remove is for statefulsets of %s, not for %q", v1.GroupName, kind)
	}
	return name, nil
}

type scaler struct {
	sets      versioned.Interface
	namespace string
	dryRun    cmdutil.DryRunStrategy
}

// remove removes members in one write. If the set has changed since it was read, remove reads it
// again and retries.
func (s *scaler) remove(ctx context.Context, name string, names []string) (left int32, err error) {
	sets := s.sets.AppsV1().StatefulSets(s.namespace)
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		set, err := sets.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		removal, err := Remove(set, names)
		if err != nil {
			return err
		}
		left = removal.Replicas
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": set.ResourceVersion},
			"spec":     map[string]any{"replicas": removal.Replicas, "ordinals": map[string]any{"reserved": removal.Reserved}},
		})
		if err != nil || s.dryRun == cmdutil.DryRunClient {
			return err
		}
		options := metav1.PatchOptions{FieldManager: "kubectl-scale", DryRun: target.DryRun(s.dryRun)}
		_, err = sets.Patch(ctx, name, types.StrategicMergePatchType, patch, options)
		return err
	})
	return left, err
}
