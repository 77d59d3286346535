// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"

	"statefulset.dev/store/dependents"
	"statefulset.dev/store/logthrottle"
)

// Guard ensures that nothing is served from a store that is not the one that the host cluster
// knows. If the server answers that a set does not exist, the cluster's garbage collector deletes
// its pods, so a wrong answer cannot be undone.
//
// The store contains a record with a random mark (record.go), and a ConfigMap of the cluster, the
// note, contains the same mark (anchor.go). While anything is written, the record gets a new mark
// about once a second, first in the store and then in the note. So a store that contains the
// note's mark contains everything that was written before that mark. A store that was emptied,
// replaced, copied and changed separately, or restored from a backup does not contain the mark,
// whatever its revision says.
//
// What is guaranteed: before the controller writes to the cluster for a generation of a set, a mark
// covers that generation (Covered). So if the cluster has an object because of data that the store
// no longer contains, the store does not contain the note's mark either. Only writes after the
// last mark may be lost unnoticed: about those of the last second, if the controller has not acted
// on them in the cluster yet.
type Guard struct {
	store *store
	notes noteClient
	host  metadata.Interface
	// stored are the sets in the store.
	stored func(context.Context) (map[dependents.SetID]bool, error)
	advice Advice
	// end ends the process with an error.
	end func(error)
	// prover verifies that the data that was read is true.
	prover prover
	// formatOf returns the format of the store that an object needs.
	formatOf func(runtime.Object) int
	// recheckInterval is how often the note is read while nothing is written.
	recheckInterval time.Duration

	// right is closed when the store was confirmed to be the right one.
	right chan struct{}
	// wrong ends when the store is no longer the right one.
	wrong context.Context
	lose  context.CancelFunc
	// wake requests a new mark now.
	wake chan struct{}

	mu sync.Mutex
	// refused is why nothing is served, nil if the store is served.
	refused error
	// known is the latest record of the right store, and reached the highest revision at which the
	// store was seen.
	known   observation
	reached int64
	// covered is the revision of the mark in the note. Each attempt to raise it closes round, puts
	// its error into failed, and creates another round.
	covered int64
	round   chan struct{}
	failed  error
	// compared is the record that was last confirmed to be the one in the note, and comparedAt
	// when.
	compared   observation
	comparedAt time.Time
	// unmarked is true until this process has set a mark.
	unmarked bool
}

var errNotCompared = errors.New("the store has not been compared with the note in the host cluster yet")

const (
	// markInterval is how often a mark follows the writes.
	markInterval = time.Second
	// shortestRetry and longestRetry limit the delay before a store that is not right is checked
	// again.
	shortestRetry = 500 * time.Millisecond
	longestRetry  = 5 * time.Second
	// recheckInterval is how often a server that neither writes nor sees writes of others checks
	// whether the note still exists.
	recheckInterval = 30 * time.Second
	// lastMarkTimeout limits the last mark of a server that ends.
	lastMarkTimeout = 5 * time.Second
)

// Config configures a guard.
type Config struct {
	// Etcd is a client of the store, and Prefix the prefix of all its keys.
	Etcd   *clientv3.Client
	Prefix string
	// Notes are the ConfigMaps of the namespace of the host cluster that contains the note.
	Notes typedcorev1.ConfigMapInterface
	// Host finds the objects of sets.
	Host metadata.Interface
	// Stored are the sets in the store.
	Stored func(context.Context) (map[dependents.SetID]bool, error)
	// Advice is for the commands in messages to operators.
	Advice Advice
	// End is called when the server must restart.
	End func(error)
	// Emulated is the version that the server emulates, nil if none.
	Emulated *version.Version
}

// New returns a guard that has not checked its store yet.
func New(c Config) *Guard {
	g := &Guard{
		store: newStore(c.Etcd, c.Prefix), notes: newNoteClient(c.Notes), host: c.Host, stored: c.Stored, advice: c.Advice, end: c.End,
		right: make(chan struct{}), wake: make(chan struct{}, 1), round: make(chan struct{}), refused: errNotCompared,
		formatOf: neededFormat, recheckInterval: recheckInterval, unmarked: true,
	}
	g.wrong, g.lose = context.WithCancel(context.Background())
	g.prover.ask = g.askAll
	if c.Emulated != nil {
		g.store.emulate(c.Emulated)
	}
	return g
}

// run checks the store until ctx ends.
func (g *Guard) run(ctx context.Context) {
	if how, err := g.waitTrusted(ctx); err != nil {
		return
	} else if how == restored {
		// The caches of this process were filled from the earlier store.
		g.end(errors.New("the right store is back: restarting to read it again"))
		return
	}
	close(g.right)
	g.follow(ctx)
	if ctx.Err() != nil {
		return
	}
	if _, err := g.waitTrusted(ctx); err == nil {
		g.end(errors.New("the store was replaced while the server was running, and is trusted again: restarting to read it again"))
	}
}

// outcome is how a store was confirmed to be right.
type outcome int

const (
	// alreadyTrusted stores were right at the first check.
	alreadyTrusted outcome = iota
	// adopted stores became right by a decision.
	adopted
	// restored stores replaced one that was refused.
	restored
)

// waitTrusted checks the store until it is right. It returns an error only when ctx ends.
func (g *Guard) waitTrusted(ctx context.Context) (outcome, error) {
	logger := klog.FromContext(ctx)
	var throttle logthrottle.Throttle
	var last *refusal
	for pause := shortestRetry; ; pause = min(2*pause, longestRetry) {
		seen, how, err := g.judge(ctx, last)
		if err == nil {
			logger.Info("Verified that the store is the one that the host cluster knows", "store", seen.Store, "revision", seen.revision)
			g.accept(seen)
			if how == alreadyTrusted && last != nil {
				how = restored
			}
			return how, nil
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		errors.As(err, &last)
		g.refuse(err)
		if throttle.IsDue(err, time.Now()) {
			logger.Error(err, "Refused to serve the store", "examples", last.examples())
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// follow keeps the mark close behind the writes, until the store is no longer right.
func (g *Guard) follow(ctx context.Context) {
	ticker := time.NewTicker(markInterval)
	defer ticker.Stop()
	for woken := true; ; {
		var err error
		if woken || !g.isIdle(ctx) {
			err = g.advance(ctx)
		}
		g.endRound(err)
		if g.isLost() {
			return
		}
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Failed to set a new mark of the store", "err", err)
		}
		select {
		case <-ticker.C:
			woken = false
		case <-g.wake:
			woken = true
		case <-g.wrong.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// finish sets the last mark, after the last write.
func (g *Guard) finish(ctx context.Context) {
	if g.Check() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastMarkTimeout)
	defer cancel()
	if err := g.advance(ctx); err != nil {
		klog.FromContext(ctx).Info("Failed to set the last mark of the store", "err", err)
	}
}

// Check returns why nothing is served, nil if the store is served.
func (g *Guard) Check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}

func (g *Guard) isServing() bool { return g.Check() == nil }

func (g *Guard) refuse(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused = reason
}

// accept begins to serve, unless the store was lost before. The first mark determines what the note
// covers.
func (g *Guard) accept(seen observation) {
	if g.isLost() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused, g.known, g.reached = nil, seen, seen.revision
}

func (g *Guard) isLost() bool { return g.wrong.Err() != nil }
