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

// Guard sees to it that nothing is served from a store that is not the one that
// the host cluster knows. The host's garbage collector deletes the pods of a set
// that is said not to exist, so a wrong "no" cannot be taken back.
//
// The store holds a record with a random mark (record.go), and a ConfigMap of the
// host, the anchor, names that mark (anchor.go). The record gets a new mark about
// once a second while anything is written, the store first and the anchor second,
// so a store that holds the noted mark holds everything that was written before
// it. A store that was emptied, exchanged, copied and gone its own way, or set
// back to a backup, whatever its revision claims to be, does not hold it.
//
// What is certain: the controller writes nothing to the host for a generation of
// a set before a mark covers that generation (Covered). So whenever an object in
// the host is there because of something that the store does not know any more,
// the store does not hold the noted mark either. What may be lost unnoticed are
// the writes after the last mark, about those of the last second, as far as
// nothing was done about them in the host yet.
type Guard struct {
	store   *store
	anchors anchors
	host    metadata.Interface
	// stored are the sets in the store.
	stored func(context.Context) (map[dependents.SetID]bool, error)
	advice Advice
	// end ends the process with an error.
	end func(error)
	// prover makes sure that what was read is true.
	prover prover
	// formatOf says which format of the store an object needs.
	formatOf func(runtime.Object) int
	// recheckInterval is how often the anchor is looked at while nothing is written.
	recheckInterval time.Duration

	// right is closed when the store was found to be the right one.
	right chan struct{}
	// wrong ends when a store that had been right no longer is.
	wrong context.Context
	lose  context.CancelFunc
	// wake asks for a new mark now.
	wake chan struct{}

	mu sync.Mutex
	// refused is why nothing is served, nil if it is.
	refused error
	// known is the latest record of the right store, and reached the highest
	// revision at which it was seen.
	known   observation
	reached int64
	// covered is the revision of the noted mark. Each attempt to raise it closes
	// round, puts its error into failed, and makes another round.
	covered int64
	round   chan struct{}
	failed  error
	// compared is the record that was last found to be the noted one, and when.
	compared   observation
	comparedAt time.Time
	// unmarked is true until this process has set a mark of its own.
	unmarked bool
}

var errNotCompared = errors.New("the store has not been compared with the note that the host cluster has of it yet")

const (
	// markInterval is how often a mark follows what was written.
	markInterval = time.Second
	// shortestRetry and longestRetry are how long it takes until a store that is
	// not right is looked at again.
	shortestRetry = 500 * time.Millisecond
	longestRetry  = 5 * time.Second
	// recheckInterval is how often a server that neither writes nor sees others write looks
	// whether the anchor is still there.
	recheckInterval = 30 * time.Second
	// lastMarkTimeout bounds the last mark of a server that ends.
	lastMarkTimeout = 5 * time.Second
)

// Config is what a guard is made of.
type Config struct {
	// Etcd leads to the store, and Prefix is that of all its keys.
	Etcd   *clientv3.Client
	Prefix string
	// Anchors are the ConfigMaps of the namespace of the host that has the anchor.
	Anchors typedcorev1.ConfigMapInterface
	// Host finds what belongs to sets.
	Host metadata.Interface
	// Stored are the sets in the store.
	Stored func(context.Context) (map[dependents.SetID]bool, error)
	// Advice is what an operator is told to do.
	Advice Advice
	// End is told when the server must be started again.
	End func(error)
	// Emulated is the version that the server emulates, nil if none.
	Emulated *version.Version
}

// New is a guard that has not looked at its store yet.
func New(c Config) *Guard {
	g := &Guard{
		store: newStore(c.Etcd, c.Prefix), anchors: newAnchors(c.Anchors), host: c.Host, stored: c.Stored, advice: c.Advice, end: c.End,
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

// run judges the store until ctx ends.
func (g *Guard) run(ctx context.Context) {
	if how, err := g.waitTrusted(ctx); err != nil {
		return
	} else if how == restored {
		// The caches of this process were filled from what was there before.
		g.end(errors.New("the right store is back: restarting, to read it afresh"))
		return
	}
	close(g.right)
	g.follow(ctx)
	if ctx.Err() != nil {
		return
	}
	if _, err := g.waitTrusted(ctx); err == nil {
		g.end(errors.New("the store was exchanged while the server was running, and is right again: restarting, to read it afresh"))
	}
}

// outcome is how a store came to be right.
type outcome int

const (
	// asNoted stores were right when first looked at.
	asNoted outcome = iota
	// adopted stores became right by a decision.
	adopted
	// restored stores took the place of one that was refused.
	restored
)

// waitTrusted looks at the store until it is right. It returns an error only when ctx
// ends.
func (g *Guard) waitTrusted(ctx context.Context) (outcome, error) {
	logger := klog.FromContext(ctx)
	var told logthrottle.Throttle
	var last *refusal
	for pause := shortestRetry; ; pause = min(2*pause, longestRetry) {
		seen, how, err := g.judge(ctx, last)
		if err == nil {
			logger.Info("The store is the one that the host cluster knows", "store", seen.Store, "revision", seen.revision)
			g.accept(seen)
			if how == asNoted && last != nil {
				how = restored
			}
			return how, nil
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		errors.As(err, &last)
		g.refuse(err)
		if told.IsDue(err, time.Now()) {
			logger.Error(err, "Nothing is served", "examples", last.examples())
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// follow keeps the mark close behind what is written, until the store turns out
// to be wrong.
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
			klog.FromContext(ctx).V(2).Info("Could not mark how far the store has come", "err", err)
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

// finish sets the last mark, when nothing is written any more.
func (g *Guard) finish(ctx context.Context) {
	if g.Check() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastMarkTimeout)
	defer cancel()
	if err := g.advance(ctx); err != nil {
		klog.FromContext(ctx).Info("Could not mark how far the store has come before the end", "err", err)
	}
}

// Check is why nothing is served, nil if it is.
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

// accept begins to serve, unless the store was lost before. What the anchor covers
// is found out by the first mark.
func (g *Guard) accept(seen observation) {
	if g.isLost() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused, g.known, g.reached = nil, seen, seen.revision
}

func (g *Guard) isLost() bool { return g.wrong.Err() != nil }
