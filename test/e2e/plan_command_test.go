//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/plan"
)

// planCommand runs the plugin's plan command.
func planCommand(t *testing.T, ns, stdin string, args ...string) (string, error) {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	kubeconfig := filepath.Join(suite.Dir, "kubeconfig")
	flags.KubeConfig, flags.Namespace = &kubeconfig, &ns
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	command := plan.NewCommand(flags, streams)
	command.SetArgs(args)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestThePlanCommandListsTheStepsOfAFile(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("web", 2))
	before := waitReady(t, ns, "web", 2)
	pods := podsOf(t, ns)

	proposal := newSet("web", 2)
	proposal.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind(v1.Kind))
	proposal.Spec.Replicas = nil
	proposal.Spec.Template.Spec.Containers[0].Image = "another"
	manifest, err := yaml.Marshal(proposal)
	if err != nil {
		t.Fatalf("writing the manifest: %v", err)
	}
	said, err := planCommand(t, ns, string(manifest), "-f", "-")
	if err != nil {
		t.Fatalf("kubectl sts plan -f -: %v\n%s", err, said)
	}
	got := regexp.MustCompile(`(delete|create) pod web-\d|create .*pod web-\d`).FindAllString(said, -1)
	want := []string{"delete pod web-1", "create pod web-1", "delete pod web-0", "create pod web-0"}
	if !slices.Equal(got, want) {
		t.Errorf("got the pod steps %q, want %q; all of it:\n%s", got, want, said)
	}
	if !strings.Contains(said, string(v1.PlanConverged)) {
		t.Errorf("got %s\nwant it to end with %s", said, v1.PlanConverged)
	}
	after := waitReady(t, ns, "web", 2)
	if got := podsOf(t, ns); !slices.Equal(got, pods) || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("got pods %q and version %s, want all as before: %q and %s", got, after.ResourceVersion, pods, before.ResourceVersion)
	}
}

func TestThePlanCommandSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("web", 1))
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown set":                {[]string{"nobody"}, `"nobody" not found`},
		"neither a name nor a file":     {nil, "name one set, or specify a file with -f"},
		"a file that is not there":      {[]string{"-f", "/nowhere"}, "/nowhere"},
		"an output that does not exist": {[]string{"web", "-o", "xml"}, `--output is "xml", must be yaml or json`},
		"a container that is not there": {[]string{"web", "--image=db=new"}, `has no container "db"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			said, err := planCommand(t, ns, "", test.args...)
			if got := fmt.Sprint(err); err == nil || !strings.Contains(got, test.want) || said != "" {
				t.Errorf("got error %q and output %q, want an error with %q and no output", got, said, test.want)
			}
		})
	}
}
