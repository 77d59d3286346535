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
	// memberName is the name of etcd's only member in etcd's own records. It must not change,
	// because etcd does not find data that was written under another name.
	memberName = "statefulset-apiserver"

	// defaultQuota is the maximum size of the database, in bytes. It is the largest value that etcd
	// recommends; the default of 2 GiB would stop writes too early.
	defaultQuota = 8 << 30

	// progressInterval is how often an idle watch is informed of etcd's current revision. The
	// server's watch cache cannot answer a consistent read before it knows that revision.
	progressInterval = 5 * time.Second

	// defragmentFrom is how many MiB of the database's file must be free for etcd to defragment it
	// at start. No one else can reach this etcd to do so.
	defragmentFrom = 64

	// entriesKept is the minimum number of recent writes that etcd keeps in memory. The default of
	// 5,000 is for members that lag behind, and here there are none. Each entry is as large as the
	// set that was written.
	entriesKept = 100
)

// Etcd is an etcd inside this process. It listens on a unix socket in a directory that only our
// user can enter. Unless it is part of a cluster, it does not listen on anything else.
type Etcd struct {
	dir       *Dir
	socketDir string
	log       etcdLog
	quota     int64         // bytes
	member    *MemberConfig // nil if it has no other members
	restored  string        // the token of a cluster that is restored from a backup, or empty
	server    *embed.Etcd
}

// Start returns when etcd answers. An error says what is wrong with the directory; nothing in it is
// deleted in that case.
func Start(ctx context.Context, path string) (*Etcd, error) {
	return StartWithQuota(ctx, path, defaultQuota)
}

// StartWithQuota is Start with another maximum size of the database, in bytes.
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

// newEtcd takes over the directory, and closes it on failure.
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

// WaitReady returns when etcd answers. A cluster needs a majority of its members for that.
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

// startWithoutPanic turns the panic of an etcd whose data is damaged into an error. Etcd logs a
// reason, and panics or exits; etcdLog turns an exit into a panic, too.
func startWithoutPanic(config *embed.Config) (server *embed.Etcd, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	return embed.StartEtcd(config)
}

// Endpoint is the address of etcd for clients in this process.
func (e *Etcd) Endpoint() string { return "unix://" + e.socket() }

// OnFatal sets how the process ends when etcd cannot continue, for example because the disk is
// full. Without it, etcd panics.
func (e *Etcd) OnFatal(end func(error)) { e.log.onFatal(end) }

// Err reports if etcd ends unexpectedly.
func (e *Etcd) Err() <-chan error { return e.server.Err() }

// Close stops etcd and releases the directory for other processes.
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
	// There is no listener for peers, because a single member has none. The address is only a name
	// under which the member knows itself.
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
	if e.member == nil {
		config.SnapshotCatchUpEntries = entriesKept
	} else {
		e.member.apply(config)
	}
	return config
}
