//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	sts "statefulset.dev/cmd/kubectl-sts/migrate"
	"statefulset.dev/cmd/kubectl-sts/tree"
	"statefulset.dev/test/harness"
)

// asPlugin makes the test binary be a command itself, so that it can be killed or have a
// terminal: tree if it is "tree", migrate with any other value.
const asPlugin = "MIGRATE_AS_PLUGIN"

// suite is what every test uses. It is set once, before the first test runs.
var suite struct{ *harness.Cluster }

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		os.Exit(plugin())
	}
	os.Exit(harness.Main(m, &suite.Cluster))
}

func plugin() int {
	flags := genericclioptions.NewConfigFlags(true)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	command := sts.NewCommand(flags, streams)
	if os.Getenv(asPlugin) == "tree" {
		command = tree.NewCommand(flags, streams)
	}
	flags.AddFlags(command.PersistentFlags())
	if command.ExecuteContext(context.Background()) != nil {
		return 1
	}
	return 0
}

func namespace(t *testing.T) string {
	t.Helper()
	return suite.Namespace(t, "migrate")
}

// run is one run of the command.
type run struct {
	namespace string
	// user is who runs it, the administrator if empty.
	user string
	// after is told of every line when it has been printed; an error ends the run there.
	after func(line string) error
	// wrap changes what the command sends.
	wrap func(*rest.Config) *rest.Config
}

// migrate runs the command in this process. It returns what was printed.
func (r run) migrate(t *testing.T, args ...string) (string, error) {
	t.Helper()
	flags, kubeconfig := genericclioptions.NewConfigFlags(true), suite.Kubeconfig()
	flags.KubeConfig, flags.Namespace, flags.Impersonate, flags.WrapConfigFn = &kubeconfig, &r.namespace, &r.user, r.wrap
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	out := &lines{after: r.after, stop: cancel}
	command := sts.NewCommand(flags, genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out})
	command.SetArgs(append([]string{}, args...))
	command.SetOut(out)
	command.SetErr(out)
	command.SilenceErrors = true
	err := command.ExecuteContext(ctx)
	return out.text.String(), err
}

// migrate runs the command, and fails the test if that fails.
func migrate(t *testing.T, ns string, args ...string) string {
	t.Helper()
	out, err := run{namespace: ns}.migrate(t, args...)
	if err != nil {
		t.Fatalf("kubectl sts migrate %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// lines is where the command prints to.
type lines struct {
	after func(line string) error
	stop  func()

	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(line)
	if l.after != nil && l.after(string(line)) != nil {
		l.stop()
	}
	return len(line), nil
}
