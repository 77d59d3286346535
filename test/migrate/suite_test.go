//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"statefulset.dev/client/clientset/versioned"
	sts "statefulset.dev/cmd/kubectl-sts/migrate"
	"statefulset.dev/cmd/kubectl-sts/tree"
	"statefulset.dev/test/warmup"
)

// patience is how long a test waits for what the cluster does by itself.
const patience = 2 * time.Minute

// asPlugin makes the test binary be a command itself, so that it can be killed or have a
// terminal: tree if it is "tree", migrate with any other value.
const asPlugin = "MIGRATE_AS_PLUGIN"

// suite is what every test uses. It is set once, before the first test runs.
var suite struct {
	kubeconfig string
	host       kubernetes.Interface
	sets       versioned.Interface
}

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		os.Exit(plugin())
	}
	if err := connect(); err != nil {
		fmt.Fprintf(os.Stderr, "migrate: %v\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
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

func connect() error {
	dir := os.Getenv("STATEFULSET_CLUSTER_DIR")
	if dir == "" {
		return errors.New("STATEFULSET_CLUSTER_DIR is not set: run make test-migrate, or name the directory of a cluster that bin/cluster started")
	}
	suite.kubeconfig = filepath.Join(dir, "kubeconfig")
	config, err := clientcmd.BuildConfigFromFlags("", suite.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	config.QPS = -1
	if suite.host, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the host client: %w", err)
	}
	if suite.sets, err = versioned.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the client of our group: %w", err)
	}
	if err := warmup.Wait(context.Background(), config); err != nil {
		return fmt.Errorf("waiting for the cluster's controllers: %w", err)
	}
	return nil
}

func namespace(t *testing.T) string {
	t.Helper()
	ns, err := suite.host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "migrate-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = suite.host.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{})
	})
	return ns.Name
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
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig, flags.Namespace, flags.Impersonate, flags.WrapConfigFn = &suite.kubeconfig, &r.namespace, &r.user, r.wrap
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

// eventually waits until check is satisfied; if it never is, the test fails with what
// check said last.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v; last seen: %v", what, err, last)
	}
}
