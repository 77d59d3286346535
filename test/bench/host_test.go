//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"statefulset.dev/test/bench/measure"
	"statefulset.dev/test/harness/lab"
)

const (
	// patience bounds every wait. A turn that takes longer has no result.
	patience = 15 * time.Minute
	poll     = 50 * time.Millisecond
	// calm is how long nothing must have been asked of the host before a turn begins.
	calm = time.Second
)

// bench is the cluster, with neither our server nor the built-in controller running:
// each is started for its own turns. What else a cluster has, runs all the time.
type bench struct {
	*lab.Lab

	host  kubernetes.Interface
	http  *api
	audit *auditLog
	// server and manager are how our server and the cluster's controllers were started.
	server, manager lab.Program
	// scale is which part of the usual sizes is run.
	scale float64
	run   *measure.Run
	// empty is the port of the empty handler, and afterTurn what is to be put right when
	// its turn has ended.
	empty     string
	afterTurn func()
}

func open(t *testing.T) *bench {
	l := lab.Open(t)
	l.Config.ContentType = "application/vnd.kubernetes.protobuf"
	l.Config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	b := &bench{Lab: l, audit: openAudit(t, l.Path("logs", "audit.log")), scale: number(t, "SCALE", 1)}
	var err error
	if b.host, err = kubernetes.NewForConfig(l.Config); err != nil {
		t.Fatalf("creating the host client: %v", err)
	}
	b.http = newAPI(t, l.Config)
	b.server, b.manager = l.TakeOver(t, lab.Server), l.TakeOver(t, lab.ControllerManager)
	b.server.Args = b.server.Args.With("data-dir", inMemory(t, b.server.Args.Get("data-dir")))
	rest := b.manager
	rest.Args = rest.Args.With("controllers", "*,-node-lifecycle-controller,-statefulset-controller")
	l.Start(t, rest)
	version, err := b.host.Discovery().ServerVersion()
	if err != nil {
		t.Fatalf("asking the host for its version: %v", err)
	}
	machine, err := measure.ThisMachine()
	if err != nil {
		t.Fatal(err)
	}
	machine.Kubernetes = version.GitVersion
	b.run = &measure.Run{Begun: time.Now(), Commit: os.Getenv("COMMIT"), Measured: os.Getenv("MEASURED"), Machine: machine,
		Rounds: int(number(t, "ROUNDS", 3)), Scale: b.scale}
	return b
}

// inMemory moves a store to where a sync to disk costs nothing, since the host's etcd is run
// without any. Each cluster has one place, so that the next run removes what an interrupted
// one has left.
func inMemory(t *testing.T, dir string) string {
	t.Helper()
	moved := filepath.Join("/dev/shm", "bench-store-"+strings.ReplaceAll(strings.Trim(dir, "/"), "/", "-"))
	remove := func() {
		if err := os.RemoveAll(moved); err != nil {
			t.Errorf("removing a store in memory: %v", err)
		}
	}
	remove()
	t.Cleanup(remove)
	if err := os.Mkdir(moved, 0o700); err != nil {
		t.Fatalf("making a directory in memory: %v", err)
	}
	if err := os.CopyFS(moved, os.DirFS(dir)); err != nil {
		t.Fatalf("copying our server's store: %v", err)
	}
	return moved
}

// busy is which part of the processors is taken while the cluster has nothing to do.
func (b *bench) busy(t *testing.T) float64 {
	t.Helper()
	b.settle(t)
	before := b.ticks(t)
	time.Sleep(3 * time.Second)
	return b.ticks(t).Busy(before)
}

func (b *bench) ticks(t *testing.T) measure.Ticks {
	t.Helper()
	ticks, err := measure.Processors()
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}

// settle waits until nobody has asked the host to change anything for a while.
func (b *bench) settle(t *testing.T) {
	t.Helper()
	quietSince, size := time.Now(), b.audit.size(t)
	b.wait(t, "the host is asked nothing", func(context.Context) (bool, error) {
		if now := b.audit.size(t); now != size {
			quietSince, size = time.Now(), now
		}
		return time.Since(quietSince) >= calm, nil
	})
}

func (b *bench) wait(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), poll, patience, true, condition); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// sweep removes all pods, claims and revisions, and waits until they and the volumes are
// gone. To delete thousands takes longer than the host gives one request, so it is asked
// again. The garbage collector would remove what belonged to a set, and take minutes.
func (b *bench) sweep(t *testing.T, namespaces ...string) {
	t.Helper()
	b.wait(t, "what a turn has made is gone", func(ctx context.Context) (bool, error) {
		left := 0
		for _, ns := range namespaces {
			n, err := b.sweepOnce(ctx, ns)
			if err != nil {
				t.Logf("sweeping took more than one attempt: %v", err)
				n = 1
			}
			left += n
		}
		volumes, err := b.host.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil && left+len(volumes.Items) == 0, err
	})
	b.settle(t)
}

// sweepOnce deletes the pods, claims and revisions of a namespace, and returns whether
// there are any pods or revisions left.
func (b *bench) sweepOnce(ctx context.Context, ns string) (left int, err error) {
	now := int64(0)
	pods := b.host.CoreV1().Pods(ns)
	if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
		return 0, err
	}
	claims := b.host.CoreV1().PersistentVolumeClaims(ns)
	if err := claims.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return 0, err
	}
	revisions := b.host.AppsV1().ControllerRevisions(ns)
	if err := revisions.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return 0, err
	}
	some, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	more, err := revisions.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	return len(some.Items) + len(more.Items), nil
}

// unlimited is a configuration whose clients wait for nothing but answers.
func unlimited(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	return config
}
