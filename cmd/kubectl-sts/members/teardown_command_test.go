// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/delete"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

func TestTheCommandLineOfATeardown(t *testing.T) {
	for sentence, test := range map[string]struct {
		args []string
		want []string
		err  string
	}{
		"names":                       {args: []string{"web", "db", "web"}, want: []string{"web", "db"}},
		"a type and names":            {args: []string{"statefulset", "web", "sset"}, want: []string{"web", "sset"}},
		"types with names":            {args: []string{"sts/web", "statefulsets.apps.statefulset.dev/db"}, want: []string{"web", "db"}},
		"a name that could be a type": {args: []string{"sts"}, want: []string{"sts"}},
		"flags that it follows": {
			args: []string{"web", "--timeout=1m", "--dry-run=server", "--ignore-not-found", "--cascade=foreground"}, want: []string{"web"}},
		"no name":     {err: "--ordered needs the names of sets, as in: kubectl sts delete --ordered web"},
		"half a name": {args: []string{"sts/"}, err: `"sts/" does not name a set`},
		"another type": {
			args: []string{"pod/web-0"}, err: `--ordered is for statefulsets of apps.statefulset.dev, not for "pod"`},
		"the built-in type": {args: []string{"statefulsets.apps/web"},
			err: `--ordered is for statefulsets of apps.statefulset.dev, not for "statefulsets.apps"`},
		"pods that are to stay": {args: []string{"web", "--cascade=orphan"},
			err: `--cascade is "orphan", must be background or foreground with --ordered, which removes the members`},
		"less time than members need":  {args: []string{"web", "--force", "--grace-period=0"}, err: refusedWith("--force and --grace-period")},
		"a file":                       {args: []string{"-f", "web.yaml"}, err: refusedWith("--filename")},
		"all sets":                     {args: []string{"sts", "--all"}, err: refusedWith("--all")},
		"sets of all namespaces":       {args: []string{"sts", "-A"}, err: refusedWith("--all-namespaces")},
		"sets that a selector selects": {args: []string{"sts", "-l", "app=web"}, err: refusedWith("--selector")},
		"no wait":                      {args: []string{"web", "--wait=false"}, err: refusedWith("--wait")},
		"a time before now":            {args: []string{"web", "--timeout=-1s"}, err: "--timeout is -1s, must not be less than 0"},
	} {
		t.Run(sentence, func(t *testing.T) {
			flags := genericclioptions.NewConfigFlags(false)
			command := WithOrder(delete.NewCmdDelete(cmdutil.NewFactory(flags), genericiooptions.NewTestIOStreamsDiscard()), flags,
				genericiooptions.NewTestIOStreamsDiscard())
			if err := command.ParseFlags(append(test.args, "--ordered")); err != nil {
				t.Fatalf("reading the flags: %v", err)
			}
			got, err := (&teardown{}).complete(command, command.Flags().Args())
			if !slices.Equal(got, test.want) || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got %q and error %v, want %q and %q", got, err, test.want, test.err)
			}
		})
	}
}

func refusedWith(flags string) string {
	return flags + " cannot be combined with --ordered, which needs names of sets, respects the grace periods of pods, and waits"
}

func TestFlagsOfATeardownAreFollowed(t *testing.T) {
	flags := genericclioptions.NewConfigFlags(false)
	command := WithOrder(delete.NewCmdDelete(cmdutil.NewFactory(flags), genericiooptions.NewTestIOStreamsDiscard()), flags,
		genericiooptions.NewTestIOStreamsDiscard())
	if err := command.ParseFlags(
		[]string{"--ordered", "--timeout=1m", "--dry-run=server", "--ignore-not-found", "--cascade=foreground"}); err != nil {
		t.Fatalf("reading the flags: %v", err)
	}
	got := &teardown{}
	if _, err := got.complete(command, []string{"web"}); err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	if got.patience.String() != "1m0s" || got.dryRun != cmdutil.DryRunServer || !got.ignoreMissing ||
		got.propagation != metav1.DeletePropagationForeground {
		t.Errorf("got %+v, want a minute, a dry run of the server, missing sets ignored and foreground", got)
	}
}
