//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

const (
	// serversAtOnce share one store, so that one exchange tries all of them.
	serversAtOnce = 5
	// watchesEach are open on each of them: half of them watch-lists.
	watchesEach = 100
	// restartEvery is how often it is etcd's process that is exchanged.
	restartEvery = 5

	keyPrefix = "/registry/statefulset.dev/"
	recordKey = keyPrefix + "store"
)

// exchanges is one store that others take the place of, over and over.
type exchanges struct {
	*world
	etcd   lab.Etcd
	right  *lab.Process
	client *clientv3.Client
	m      *members
	// key is that of the set, and another what was stored there before, of another UID.
	key     string
	another []byte
	// others are data directories that take the place of the right one.
	others []string
}

// storesAreExchangedUnderWatches lets clients watch and list while the store is
// exchanged, in one transaction or by another etcd at its address.
func storesAreExchangedUnderWatches(t *testing.T, w *world, _ string) {
	w.stop(t)
	x := openExchanges(t, w)
	var told findings
	done, begun := 0, time.Now()
	for round := 0; done < harness.Number(t, "GUARD_TRIALS", 500); round++ {
		servers := x.launchServers(t)
		told.add(x.exchange(t, round, servers))
		done += len(servers)
		if now, err := x.m.Present(t.Context()); err != nil || !maps.Equal(now, x.m.UIDs) {
			told.lost++
			t.Fatalf("members after %d trials: got %v, %v, want %v", done, now, err, x.m.UIDs)
		}
	}
	t.Logf("%d trials took %s", done, time.Since(begun).Round(time.Second))
	x.begin(t, x.etcd.URL)
	x.m.mustStay(t, "after all exchanges", shortly)
	row.Report(t, row.Row{
		Fault: "store exchanged under open watches", Side: "ours", Where: "real", Runs: done, Violations: told.total(),
		Detail: fmt.Sprintf("%d exchanges under %d servers with %d watches and watch-lists open; %s", done/serversAtOnce, serversAtOnce,
			serversAtOnce*watchesEach, &told),
	})
	if told.total() > 0 {
		t.Errorf("what clients were told: got %s, want nothing", &told)
	}
	w.stop(t)
}

func openExchanges(t *testing.T, w *world) *exchanges {
	t.Helper()
	x := &exchanges{world: w, etcd: w.EtcdMembers(t, 1)[0]}
	x.right = w.Start(t, x.etcd.Program)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{x.etcd.URL}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	t.Cleanup(func() { _ = client.Close() })
	x.client = client
	x.begin(t, x.etcd.URL)
	w.stop(t)
	x.right.Stop(t, grace)
	older, raised := copyDir(t, x.etcd.Data), copyDir(t, x.etcd.Data)
	x.others = []string{older, raised, ""}
	x.raise(t, raised)
	x.right = w.Start(t, x.etcd.Program)
	x.begin(t, x.etcd.URL)

	ns := w.Namespace(t, "guard")
	sets := w.direct.AppsV1().StatefulSets(ns)
	if _, err := sets.Create(t.Context(), harness.WithClaim(harness.NewSet("db", 0)), metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set: %v", err)
	}
	found, err := client.Get(t.Context(), keyPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatalf("reading the store: %v", err)
	}
	for _, kv := range found.Kvs {
		if strings.HasSuffix(string(kv.Key), "/"+ns+"/db") {
			x.key, x.another = string(kv.Key), bytes.Clone(kv.Value)
		}
	}
	if x.key == "" {
		t.Fatalf("etcd's key of set %s/db: got none among %d", ns, len(found.Kvs))
	}
	if err := sets.Delete(t.Context(), "db", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatalf("deleting the set: %v", err)
	}
	x.m = w.settle(t, ns, "db", 2)
	w.server.Kill(t)
	return x
}

// begin starts the registered server on the right store, and makes it the one that the
// cluster knows if it is not.
func (x *exchanges) begin(t *testing.T, url string) {
	t.Helper()
	x.onEtcd(t, url)
}

// raise lets a store come to a higher revision than the right one will.
func (x *exchanges) raise(t *testing.T, data string) {
	t.Helper()
	program := x.etcd.Program
	program.Args = program.Args.With("data-dir", data)
	etcd := x.Start(t, program)
	var writers sync.WaitGroup
	for range 20 {
		writers.Go(func() {
			for range 500 {
				if _, err := x.client.Put(t.Context(), "/raise", "x"); err != nil {
					t.Errorf("raising: %v", err)
					return
				}
			}
		})
	}
	writers.Wait()
	etcd.Stop(t, grace)
}

// launchServers starts the registered server and others beside it.
func (x *exchanges) launchServers(t *testing.T) []*lab.Process {
	t.Helper()
	args := x.program.Args.Without("data-dir").With("etcd-servers", x.etcd.URL)
	var servers []*lab.Process
	for i := range serversAtOnce {
		program := x.program
		program.Args = args
		if i > 0 {
			program = x.WithPort(t, program, fmt.Sprintf("server-%d", i))
		}
		servers = append(servers, x.Launch(t, program))
	}
	for _, server := range servers {
		if err := server.AwaitReady(t.Context()); err != nil {
			t.Fatalf("server %s: %v", server.Name, err)
		}
	}
	return servers
}

// exchange is one round: clients watch all servers, another store takes the place of
// the right one until all refuse, and the right one comes back.
func (x *exchanges) exchange(t *testing.T, round int, servers []*lab.Process) findings {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), harness.Patience)
	defer stop()
	var all []*watcher
	var opening sync.WaitGroup
	for _, server := range servers {
		w := newWatcher(t, x, server)
		all = append(all, w)
		opening.Go(func() { w.open(ctx, watchesEach) })
	}
	opening.Wait()

	var back func()
	if round%restartEvery == restartEvery-1 {
		back = x.restartOn(t, x.others[round/restartEvery%len(x.others)])
	} else {
		back = x.rewrite(ctx, t, round%2 == 0)
	}
	var asking sync.WaitGroup
	for _, w := range all {
		asking.Go(func() { w.askUntilRefused(ctx) })
	}
	asking.Wait()
	var told findings
	for _, w := range all {
		told.add(w.wait(ctx, t))
	}
	for _, server := range servers {
		server.Kill(t)
	}
	back()
	return told
}

// rewrite exchanges the record and the set in one transaction. Without the set, the
// store is another one; otherwise it is an older one, with another set of the name.
func (x *exchanges) rewrite(ctx context.Context, t *testing.T, without bool) (back func()) {
	t.Helper()
	for {
		found, err := x.client.Txn(ctx).Then(clientv3.OpGet(recordKey), clientv3.OpGet(x.key)).Commit()
		if err != nil || len(found.Responses[0].GetResponseRange().Kvs) != 1 || len(found.Responses[1].GetResponseRange().Kvs) != 1 {
			t.Fatalf("reading the store: got %v, %v, want its record and the set", found, err)
		}
		record, set := found.Responses[0].GetResponseRange().Kvs[0], found.Responses[1].GetResponseRange().Kvs[0]
		ops := []clientv3.Op{clientv3.OpPut(recordKey, `{"store":"other","mark":"other"}`), clientv3.OpDelete(x.key)}
		if !without {
			store, _, _ := strings.Cut(strings.TrimPrefix(string(record.Value), `{"store":"`), `"`)
			ops = []clientv3.Op{clientv3.OpPut(recordKey, fmt.Sprintf(`{"store":%q,"mark":"older","before":"oldest"}`, store)),
				clientv3.OpPut(x.key, string(x.another))}
		}
		answer, err := x.client.Txn(ctx).If(
			clientv3.Compare(clientv3.ModRevision(recordKey), "=", record.ModRevision),
			clientv3.Compare(clientv3.ModRevision(x.key), "=", set.ModRevision)).Then(ops...).Commit()
		if err != nil {
			t.Fatalf("exchanging: %v", err)
		}
		if !answer.Succeeded {
			continue // a server has just written
		}
		return func() {
			if _, err := x.client.Txn(t.Context()).Then(clientv3.OpPut(recordKey, string(record.Value)),
				clientv3.OpPut(x.key, string(set.Value))).Commit(); err != nil {
				t.Fatalf("putting the right store back: %v", err)
			}
		}
	}
}

// restartOn puts another etcd at the address of the right one, an empty one if there
// is no directory.
func (x *exchanges) restartOn(t *testing.T, data string) (back func()) {
	t.Helper()
	if data == "" {
		data = filepath.Join(t.TempDir(), "empty")
	}
	x.right.Kill(t)
	program := x.etcd.Program
	program.Args = program.Args.With("data-dir", data)
	wrong := x.Start(t, program)
	return func() {
		wrong.Kill(t)
		x.right = x.Start(t, x.etcd.Program)
	}
}
