// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/klog/v2"
)

// How much of etcd's quota, in percent, is in use when the server reacts.
const (
	// compactFrom is when old revisions are compacted early, and compactAllFrom when all except the
	// latest are.
	compactFrom, compactAllFrom = 50, 75
	// refuseFrom is when sets may no longer grow.
	refuseFrom = 85
	// refuseFileFrom is the same for the size of the file, which etcd compares with the quota, and
	// which does not shrink by itself.
	refuseFileFrom = 95
)

const (
	// fillInterval is how often etcd is asked. Its data grows by at most a few hundred MiB in that
	// time.
	fillInterval = 2 * time.Second
	// askTimeout limits a request to etcd.
	askTimeout      = 5 * time.Second
	longestFillWait = 30 * time.Second
	// fillLifetime is how long an answer counts.
	fillLifetime = time.Minute
	// keptIntervals is the minimum age, in intervals, of a revision that is compacted early:
	// watches and paged lists may still need it.
	keptIntervals = 15
)

// fill is how full a store is, in bytes. The zero value is unknown.
type fill struct {
	// used is the size of etcd's data, and file the size of its database on disk, including
	// reusable space.
	used, file int64
	// quota is the size of the file at which etcd accepts no more writes. 0 is unknown.
	quota int64
}

func (f fill) usedFrom(percent int64) bool { return f.quota > 0 && f.used*100 >= f.quota*percent }
func (f fill) fileFrom(percent int64) bool { return f.quota > 0 && f.file*100 >= f.quota*percent }

// refuses reports whether sets must not grow.
func (f fill) refuses() bool { return f.usedFrom(refuseFrom) || f.fileFrom(refuseFileFrom) }

// Remedies are what an operator can do: about a file with unused space, and about a quota that is
// used up.
type Remedies struct{ Defragment, Enlarge string }

// explain says what is full, and what to do about it.
func (f fill) explain(remedies Remedies) string {
	if f.usedFrom(refuseFrom) {
		return fmt.Sprintf(
			"the store is full: %s of etcd's quota of %s are in use, and from %d %% on no set may be created or grow, so that status can still be written; delete sets that are not needed, or %s",
			inBytes(f.used), inBytes(f.quota), refuseFrom, remedies.Enlarge)
	}
	return fmt.Sprintf(
		"the database of etcd has grown to %s of its quota of %s, and from %d %% on no set may be created or grow, although only %s are in use; %s, or %s",
		inBytes(f.file), inBytes(f.quota), refuseFileFrom, inBytes(f.used), remedies.Defragment, remedies.Enlarge)
}

// filling monitors how full etcd is, and compacts old revisions in time.
type filling struct {
	client   *clientv3.Client
	interval time.Duration

	mu    sync.Mutex
	last  fill
	until time.Time // when last expires

	seen      []int64 // revisions in the last answers, the oldest first
	compacted int64
}

func newFilling(client *clientv3.Client, interval time.Duration) *filling {
	return &filling{client: client, interval: interval}
}

// latest is the last answer, or the zero value if that is too old.
func (f *filling) latest() fill {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Now().After(f.until) {
		return fill{}
	}
	return f.last
}

// run asks etcd until ctx ends, and less and less often while etcd does not answer.
func (f *filling) run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	refused := false
	for pause := f.interval; ; {
		now, revision, err := f.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			logger.V(2).Info("Failed to read how full the store is", "err", err)
			pause = min(2*pause, max(longestFillWait, f.interval))
		default:
			pause = f.interval
			f.remember(now)
			f.compact(ctx, now, revision)
		}
		if is := now.refuses(); err == nil && is != refused {
			logger.Info("Store admission changed", "may", !is, "used", inBytes(now.used), "database", inBytes(now.file),
				"quota", inBytes(now.quota))
			refused = is
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func (f *filling) remember(now fill) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.until = now, time.Now().Add(max(fillLifetime, 2*f.interval))
}

// ask returns the values of etcd's fullest member, because the first member without room stops the
// writes of all.
func (f *filling) ask(ctx context.Context) (fill, int64, error) {
	var all fill
	var revision int64
	var errs []error
	for _, endpoint := range f.client.Endpoints() {
		limited, cancel := context.WithTimeout(ctx, askTimeout)
		status, err := f.client.Status(limited, endpoint)
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("asking %s: %w", endpoint, err))
			continue
		}
		all.used, all.file = max(all.used, status.DbSizeInUse), max(all.file, status.DbSize)
		if all.quota == 0 || status.DbSizeQuota > 0 && status.DbSizeQuota < all.quota {
			all.quota = status.DbSizeQuota
		}
		revision = max(revision, status.Header.Revision)
	}
	if all.file == 0 {
		return fill{}, 0, errors.Join(errs...)
	}
	return all, revision, nil
}

// compact compacts old revisions once much of the quota is in use. Otherwise, compaction runs every
// five minutes, and a flood of updates could use the whole quota within that time.
func (f *filling) compact(ctx context.Context, now fill, revision int64) {
	f.seen = append(f.seen, revision)
	if len(f.seen) > keptIntervals {
		f.seen = f.seen[1:]
	}
	target := int64(0)
	switch {
	case now.usedFrom(compactAllFrom):
		target = revision
	case now.usedFrom(compactFrom) && len(f.seen) == keptIntervals:
		target = f.seen[0]
	}
	if target <= f.compacted {
		return
	}
	limited, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := f.client.Compact(limited, target)
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		klog.FromContext(ctx).Info("Failed to compact the store early", "revision", target, "err", err)
		return
	}
	f.compacted = target
	klog.FromContext(ctx).Info("Compacted the store early", "revision", target, "used", inBytes(now.used), "quota",
		inBytes(now.quota))
}
