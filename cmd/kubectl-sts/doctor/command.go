// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// patience limits the time of one run.
const patience = time.Minute

// examiner has the clients and the settings of the checks.
type examiner struct {
	host    kubernetes.Interface
	dynamic dynamic.Interface
	sets    versioned.Interface
	// system is the namespace that the server runs in.
	system string
	// namespace is the namespace of the sets to check.
	namespace string
	now       time.Time
}

// NewCommand returns the command "doctor". The getter must access the cluster without the adapter
// through which kubectl's own commands see our sets.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	e := &examiner{}
	everywhere := false
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Find out why StatefulSets do not work, and what to do about it",
		Long: "Check the registration of the API, its certificates, the trust between the cluster and the server,\n" +
			"the server's rights, its store, its backups, its guard and its leader, and the sets of a namespace\n" +
			"and their claims. Doctor also warns about sets that this version of the plugin would not accept:\n" +
			"before an upgrade, run it with the plugin of the new version. It changes nothing. The exit code is 1\n" +
			"if something is broken.",
		Example: "  # Check the server and the sets of the current namespace\n  kubectl sts doctor\n\n" +
			"  # Check the sets of all namespaces\n  kubectl sts doctor --all-namespaces",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := e.connect(getter, everywhere); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			return e.run(ctx, streams)
		},
	}
	command.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "Check the sets of all namespaces.")
	command.Flags().StringVar(&e.system, "server-namespace", "statefulset-system", "Namespace that the server runs in.")
	return command
}

func (e *examiner) connect(getter genericclioptions.RESTClientGetter, everywhere bool) error {
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	if e.namespace = aim.Namespace; everywhere {
		e.namespace = metav1.NamespaceAll
	}
	if e.host, err = kubernetes.NewForConfig(aim.Config); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	if e.dynamic, err = dynamic.NewForConfig(aim.Config); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	if e.sets, err = aim.Sets(); err != nil {
		return err
	}
	e.now = time.Now()
	return nil
}

// checks returns the checks in the order in which a request passes the parts that they check.
func (e *examiner) checks() []func(context.Context) []finding {
	return []func(context.Context) []finding{
		e.cluster, e.registration, e.namespaces, e.endpoints, e.certificates, e.trust, e.rights, e.store, e.backups, e.guard, e.leader,
		e.checkSets,
	}
}

func (e *examiner) run(ctx context.Context, streams genericiooptions.IOStreams) error {
	if _, err := e.host.Discovery().ServerVersion(); err != nil {
		return fmt.Errorf("the cluster does not answer: %w", err)
	}
	var all []finding
	for _, check := range e.checks() {
		found := check(ctx)
		for _, f := range found {
			f.show(streams.Out)
		}
		all = append(all, found...)
	}
	fmt.Fprintln(streams.Out, summary(all))
	if n := failures(all); n > 0 {
		return fmt.Errorf("doctor found %d failures", n)
	}
	return nil
}
