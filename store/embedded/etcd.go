// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

const (
	// memberName is the name that etcd's only member has in its own records. It
	// must not change: data written under another name is not found again.
	memberName = "statefulset-apiserver"

	// defaultQuota is how large the database may grow, in bytes. It is the most
	// that etcd recommends; the default of 2 GiB would stop writes too early.
	defaultQuota = 8 << 30

	// progressInterval is how often an idle watch learns how far etcd is. The
	// server's watch cache cannot answer a consistent read before it knows.
	progressInterval = 5 * time.Second

	// defragmentFrom is how many MiB of the database's file must be free for etcd to
	// defragment it when it starts. Nobody else can reach it to do so.
	defragmentFrom = 64

	// entriesKept is how many of the last writes etcd keeps in memory at the least. The default
	// of 5,000 is for members that lag behind, and here there are none. They are as large as the
	// sets that were written.
	entriesKept = 100
)

// Etcd is an etcd inside this process. It listens on a unix socket in a directory that only
// our user can enter, and, unless it is part of a cluster, on nothing else.
type Etcd struct {
	dir       *Dir
	socketDir string
	log       etcdLog
	quota     int64  // bytes
	part      *Part  // nil if it has no other members
	restored  string // the token of a cluster that is made of a backup, else empty
	server    *embed.Etcd
}

// Start returns when etcd answers. An error says what is wrong with
// the directory; nothing in it was deleted then.
func Start(ctx context.Context, path string) (*Etcd, error) {
	return StartWithQuota(ctx, path, defaultQuota)
}

// StartWithQuota is Start for a database that may grow to so many bytes.
func StartWithQuota(ctx context.Context, path string, quota int64) (*Etcd, error) {
	dir, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	if err := checkData(path); err != nil {
		return nil, errors.Join(dir.unusable(err), dir.Close())
	}
	etcd, err := newEtcd(dir, quota)
	if err != nil {
		return nil, err
	}
	if err := etcd.start(ctx); err != nil {
		return nil, errors.Join(err, etcd.Close())
	}
	return etcd, nil
}

// newEtcd takes over the directory, and closes it if it fails.
func newEtcd(dir *Dir, quota int64) (*Etcd, error) {
	// The path of a socket is limited to about a hundred characters, so it cannot
	// be in the data directory, whose path may be longer.
	socketDir, err := os.MkdirTemp("", "statefulset-etcd-")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("creating a directory for the etcd socket: %w", err), dir.Close())
	}
	return &Etcd{dir: dir, socketDir: socketDir, log: newEtcdLog(), quota: quota}, nil
}

func (e *Etcd) start(ctx context.Context) error {
	if err := e.begin(); err != nil {
		return e.dir.unusable(err)
	}
	return e.WaitReady(ctx)
}

func (e *Etcd) begin() (err error) {
	e.server, err = startWithoutPanic(e.config())
	return err
}

// WaitReady returns when etcd answers, for which a cluster needs a majority of its members.
func (e *Etcd) WaitReady(ctx context.Context) error {
	select {
	case <-e.server.Server.ReadyNotify():
		e.log.SetLevel(whileRunning)
		return errors.Join(e.dir.writeVersion(), e.dir.writeSocket(e.Endpoint()))
	case err := <-e.server.Err():
		return fmt.Errorf("starting the embedded etcd: %w", err)
	case <-ctx.Done():
		return fmt.Errorf("starting the embedded etcd: %w", context.Cause(ctx))
	}
}

// startWithoutPanic turns what etcd dies of, when its data is damaged, into an
// error: it logs a reason and panics, or exits, which etcdLog makes a panic too.
func startWithoutPanic(config *embed.Config) (server *embed.Etcd, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	return embed.StartEtcd(config)
}

// Endpoint is where a client of this process finds etcd.
func (e *Etcd) Endpoint() string { return "unix://" + e.socket() }

// OnFatal says how the process ends when etcd cannot go on, for example because the disk
// is full. Without it, etcd panics.
func (e *Etcd) OnFatal(end func(error)) { e.log.onFatal(end) }

// Err reports an etcd that ends while it should run.
func (e *Etcd) Err() <-chan error { return e.server.Err() }

// Close stops etcd and lets another process have the directory.
func (e *Etcd) Close() error {
	e.log.SetLevel(quietStop)
	if e.server != nil {
		e.server.Close()
	}
	return errors.Join(os.RemoveAll(e.socketDir), e.dir.removeSocket(), e.dir.Close())
}

func (e *Etcd) socket() string { return filepath.Join(e.socketDir, "etcd.sock") }

func (e *Etcd) config() *embed.Config {
	client := url.URL{Scheme: "unix", Path: e.socket()}
	// Nobody listens for peers: a single member has none. The address is only a
	// name under which the member knows itself.
	self := url.URL{Scheme: "http", Host: "localhost:2380"}

	config := embed.NewConfig()
	config.Dir = e.dir.path
	config.Name = memberName
	config.ListenClientUrls = []url.URL{client}
	config.AdvertiseClientUrls = []url.URL{client}
	config.ListenPeerUrls = nil
	config.AdvertisePeerUrls = []url.URL{self}
	config.InitialCluster = config.InitialClusterFromName(memberName)
	config.EnableGRPCGateway = false
	config.QuotaBackendBytes = e.quota
	config.BootstrapDefragThresholdMegabytes = defragmentFrom
	config.WatchProgressNotifyInterval = progressInterval
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(e.log.logger())
	if e.restored != "" {
		config.InitialClusterToken, config.SnapshotCount = e.restored, 1
	}
	if e.part == nil {
		config.SnapshotCatchUpEntries = entriesKept
	} else {
		e.part.apply(config)
	}
	return config
}
