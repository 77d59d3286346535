//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

// grace is how long a server may take to end.
const grace = 90 * time.Second

// world is the cluster and our server in it, which the tests start and stop.
type world struct {
	*lab.Lab
	program lab.Program
	// direct leads straight to our server, and Sets through the host's aggregator.
	direct      versioned.Interface
	server      *lab.Process
	controllers *lab.Process
	// life is as long as that of the world.
	life *testing.T
}

// TestStoresThatAreLost is one test, because its parts share the cluster's
// controllers, which it stops and starts, too.
func TestStoresThatAreLost(t *testing.T) {
	w := open(t)
	for _, part := range []struct {
		name string
		play func(*testing.T, *world, string)
	}{
		{"members survive an empty store", membersSurviveAnEmptyStore},
		{"an empty store is accepted", anEmptyStoreIsAccepted},
		{"an older copy is refused", anOlderCopyIsRefused},
		{"a backup is restored", aBackupIsRestored},
		{"a copy that the server has made is restored", aCopyOfTheServerIsRestored},
		{"missing sets are rebuilt", missingSetsAreRebuilt},
		{"an uninstallation goes in the wrong order", uninstallInTheWrongOrder},
		{"files are damaged", filesAreDamaged},
		{"a disk is full", aDiskIsFull},
		{"an external store is exchanged", anExternalStoreIsExchanged},
		{"an external store has no space", anExternalStoreHasNoSpace},
		{"stores are exchanged under watches", storesAreExchangedUnderWatches},
		{"a store moves to an etcd of the user and back", aStoreMoves},
	} {
		t.Run(part.name, func(t *testing.T) { part.play(t, w, w.begin(t)) })
	}
}

// open takes over our server and the cluster's controllers.
func open(t *testing.T) *world {
	t.Helper()
	l := lab.Open(t)
	w := &world{Lab: l, life: t, program: l.TakeOver(t, lab.Server)}
	w.direct = clientFor(t, l.Direct(l.URL(lab.Server)))
	w.controllers = l.Start(t, l.TakeOver(t, lab.ControllerManager))
	return w
}

// begin starts the server on a store of the part's own that the cluster knows. What
// an earlier part has left in the cluster is given up for that.
func (w *world) begin(t *testing.T) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	w.launch(t, data)
	w.acceptIfRefused(t)
	w.awaitServed(t)
	if err := w.WarmUp(t.Context()); err != nil {
		t.Fatalf("waiting for the cluster's controllers: %v", err)
	}
	return data
}

// restartControllers makes the garbage collector look at every object anew.
func (w *world) restartControllers(t *testing.T) {
	t.Helper()
	w.controllers.Stop(t, grace)
	w.controllers = w.Start(w.life, w.controllers.Program)
}

func clientFor(t *testing.T, config *rest.Config) versioned.Interface {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client of our group: %v", err)
	}
	return client
}

// launch starts the server on a data directory, and does not wait for it.
func (w *world) launch(t *testing.T, data string) {
	t.Helper()
	w.launchWith(t, w.program.Args.With("data-dir", data))
}

// launchWith starts the server until the part ends. Then it gives its lease back, so
// that the next part need not wait for that.
func (w *world) launchWith(t *testing.T, args lab.Args) {
	t.Helper()
	program := w.program
	program.Args = args
	server := w.Launch(t, program)
	t.Cleanup(func() { server.Stop(t, grace) })
	w.server = server
}

func (w *world) stop(t *testing.T) {
	t.Helper()
	w.server.Stop(t, grace)
}

// awaitServed waits until the server is ready and the cluster serves its API.
func (w *world) awaitServed(t *testing.T) {
	t.Helper()
	if err := w.server.AwaitReady(t.Context()); err != nil {
		t.Fatalf("the server: %v", err)
	}
	w.look(t)
	harness.Eventually(t, "the cluster serves the API", func(ctx context.Context) error {
		return w.Sets.AppsV1().RESTClient().Get().AbsPath("/apis/apps.statefulset.dev/v1/statefulsets").Do(ctx).Error()
	})
}

// look makes the cluster look at the API now.
func (w *world) look(t *testing.T) {
	t.Helper()
	w.kubectl(t, "annotate", "--overwrite", "apiservice", apiService, "test/look="+fmt.Sprint(time.Now().UnixNano()))
}

// acceptIfRefused gives up what the store does not have.
func (w *world) acceptIfRefused(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "the server has judged its store", func(ctx context.Context) error {
		if w.server.Ready(ctx) == nil {
			return nil
		}
		reason := w.reason(ctx)
		if !strings.Contains(reason, "(3) Accept") {
			return fmt.Errorf("/readyz/store: %s", reason)
		}
		w.shell(t, acceptCommand(reason))
		return nil
	})
}

// reason is what the server says about its store.
func (w *world) reason(ctx context.Context) string {
	raw, err := w.direct.AppsV1().RESTClient().Get().AbsPath("/readyz/store").Do(ctx).Raw()
	if err != nil && len(raw) == 0 {
		return err.Error()
	}
	return string(raw)
}

// kubectl runs the cluster's kubectl as administrator.
func (w *world) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return w.MustKubectl(t, "", args...)
}

func (w *world) tryKubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	stdout, stderr, err := w.Kubectl(t.Context(), "", args...)
	return stdout + stderr, err
}

// shell runs a kubectl command that the server has printed.
func (w *world) shell(t *testing.T, command string) {
	t.Helper()
	args, ok := strings.CutPrefix(command, "kubectl ")
	if !ok {
		t.Fatalf("got command %q, want one of kubectl", command)
	}
	w.kubectl(t, strings.Fields(args)...)
}

// store runs a subcommand for the store.
func (w *world) store(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, w.program.Exe, append([]string{"store"}, args...)...)
}

func run(t *testing.T, exe string, args ...string) string {
	t.Helper()
	out, err := tryRun(t, exe, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryRun(t *testing.T, exe string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", filepath.Base(exe), strings.Join(args, " "), err, &out)
	}
	return out.String(), nil
}

// copyDir copies a data directory that nobody uses.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatalf("copying %s: %v", from, err)
	}
	return to
}

func survive(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("GUARD_SURVIVE")
	if text == "" {
		return 5 * time.Minute
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("GUARD_SURVIVE is %q, must be a duration such as 60s", text)
	}
	return duration
}
