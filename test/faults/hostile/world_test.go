//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

// world is a cluster in which our server and the cluster's controllers are processes of
// this test's.
type world struct {
	*lab.Lab
	t           *testing.T
	program     lab.Program
	server      *lab.Process
	controllers *lab.Process
	namespace   string
}

// mostData is how much memory the kernel gives the server: one that asks for more ends, and the
// machine does not.
const mostData = 2 * memoryCeiling

// newWorld takes over both, changes the flags of the server, and waits until the host
// leads to it.
func newWorld(t *testing.T, flags map[string]string) *world {
	w := &world{Lab: lab.Open(t), t: t}
	//nolint:usetesting // the server puts the socket of its etcd there, and its path must be short
	sockets, err := os.MkdirTemp("", "faults-")
	if err != nil {
		t.Fatalf("creating a directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	t.Setenv("TMPDIR", sockets)
	w.program = w.TakeOver(t, lab.Server)
	for name, value := range flags {
		w.program.Args = w.program.Args.With(name, value)
	}
	limited := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, mostData>>10)
	w.program.Exe, w.program.Args = "sh", append(lab.Args{"-c", limited, w.program.Exe}, w.program.Args...)
	w.start()
	w.controllers = w.Start(t, w.TakeOver(t, lab.ControllerManager))
	made, err := w.Host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "hostile-"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	w.namespace = made.Name
	return w
}

func (w *world) start() {
	w.server = w.Start(w.t, w.program)
	w.eventually("the host leads to the server", func(ctx context.Context) error {
		_, err := w.Sets.AppsV1().StatefulSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err
	})
}

// eventually fails at once if the server has ended.
func (w *world) eventually(what string, try func(context.Context) error) {
	w.t.Helper()
	harness.Eventually(w.t, what, func(ctx context.Context) error {
		select {
		case <-w.server.Exited():
			w.t.Fatalf("waiting until %s: got that the server has ended (%s), want that it runs", what, w.lastWords())
		default:
		}
		return try(ctx)
	})
}

// lastWords are what the server that was started last has printed about its end.
func (w *world) lastWords() string {
	raw, err := os.ReadFile(w.LogOf(lab.Server))
	if err != nil {
		return err.Error()
	}
	log := string(raw)
	log = log[max(0, strings.LastIndex(log, "--- started ")):]
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "runtime: out of memory") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "panic: ") {
			return strings.TrimSpace(line)
		}
	}
	return "its log does not say why"
}

func (w *world) create(name string, replicas int32) *v1.StatefulSet {
	w.t.Helper()
	set, err := w.Sets.AppsV1().StatefulSets(w.namespace).Create(w.t.Context(), harness.NewSet(name, replicas), metav1.CreateOptions{})
	if err != nil {
		w.t.Fatalf("creating set %s: %v", name, err)
	}
	return set
}

// scaleGood scales the set "good", which shows that the others do not hold it up.
func (w *world) scaleGood(replicas int) {
	w.t.Helper()
	const name = "good"
	w.eventually("set "+name+" is scaled", func(ctx context.Context) error {
		scale, err := w.Sets.AppsV1().StatefulSets(w.namespace).GetScale(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = int32(replicas)
		_, err = w.Sets.AppsV1().StatefulSets(w.namespace).UpdateScale(ctx, name, scale, metav1.UpdateOptions{})
		return err
	})
	w.awaitReady(name, replicas)
}

func (w *world) awaitReady(name string, replicas int) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("set %s has %d ready members", name, replicas), func(ctx context.Context) error {
		set, err := w.Sets.AppsV1().StatefulSets(w.namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (int(set.Status.ReadyReplicas) != replicas || set.Status.ObservedGeneration != set.Generation) {
			err = fmt.Errorf("got %d", set.Status.ReadyReplicas)
		}
		return err
	})
}

// pods are the pods of the namespace by name.
func (w *world) pods() map[string]corev1.Pod {
	w.t.Helper()
	list, err := w.Host.CoreV1().Pods(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatalf("listing pods: %v", err)
	}
	pods := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		pods[pod.Name] = pod
	}
	return pods
}

// memory is the most that the server has had in memory, in bytes.
func (w *world) memory() int {
	w.t.Helper()
	peak, err := w.peak()
	if err != nil {
		w.t.Fatalf("reading the memory of the server: %v", err)
	}
	return peak
}

func (w *world) peak() (int, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(w.server.PID()), "status"))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := strings.CutPrefix(string(line), "VmHWM:"); ok {
			kilobytes, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return kilobytes << 10, err
		}
	}
	return 0, errors.New("the kernel does not tell it")
}

// metric is the value of a metric without labels that is a whole number.
func (w *world) metric(ctx context.Context, name string) (int, error) {
	value, err := w.gauge(ctx, name)
	return int(value), err
}

// gauge is the value of a metric without labels.
func (w *world) gauge(ctx context.Context, name string) (float64, error) {
	direct, err := versioned.NewForConfig(w.Direct(w.URL(lab.Server)))
	if err != nil {
		return 0, err
	}
	raw, err := direct.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading metrics: %w", err)
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := strings.CutPrefix(string(line), name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(rest), 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}
