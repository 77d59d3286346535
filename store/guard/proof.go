// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// A store may be exchanged while the server runs, and is not asked for its record
// before everything that is read from it. So what was read is proven afterwards: one
// transaction reads the record and, with it, the keys that the answer speaks of. If
// the record is that of the right store, and the keys are there as they were read,
// then the answer is true in the right store, wherever it was read from.
//
// Questions that come while one is being asked wait, and are asked together.

// errNotThere says that something was not read from the right store, or is so no
// longer.
var errNotThere = errors.New("what was read from the store is not there any more: try again")

// question is what must be true in the right store.
type question struct {
	// reached is the revision that it must have come to.
	reached int64
	claims  []claim
}

// claim is what is said about one key of etcd.
type claim struct {
	key string
	// at is the revision at which the key is looked at, 0 for now.
	at int64
	// version is the revision at which it was last written, or deleted if absent is
	// allowed.
	version int64
	absent  bool
}

func (c claim) isTrue(found *clientv3.GetResponse) bool {
	if len(found.Kvs) == 0 {
		return c.absent
	}
	return found.Kvs[0].ModRevision == c.version
}

func (c claim) read() clientv3.Op {
	return clientv3.OpGet(c.key, clientv3.WithRev(c.at), clientv3.WithKeysOnly())
}

// mostClaims is how many claims are asked about at a time: etcd takes 128 operations
// in a transaction, and one is for the record.
const mostClaims = 127

// prover asks many questions at a time.
type prover struct {
	ask func(context.Context, []*asked) error

	mu      sync.Mutex
	waiting []*asked
	busy    bool
}

// asked is a question that waits for its answer.
type asked struct {
	question
	answer error
	// revision is what the right store had come to.
	revision int64
	done     chan struct{}
}

// prove returns when an answer was read that was asked for after the call.
func (p *prover) prove(ctx context.Context, q question) (revision int64, err error) {
	if len(q.claims) > mostClaims {
		return 0, fmt.Errorf("asking about %d keys at a time: the limit is %d", len(q.claims), mostClaims)
	}
	mine := &asked{question: q, done: make(chan struct{})}
	p.mu.Lock()
	p.waiting = append(p.waiting, mine)
	if !p.busy {
		p.busy = true
		go p.work(context.WithoutCancel(ctx))
	}
	p.mu.Unlock()
	select {
	case <-mine.done:
		return mine.revision, mine.answer
	case <-ctx.Done():
		return 0, fmt.Errorf("waiting for the record of the store: %w", context.Cause(ctx))
	}
}

// work asks until nobody waits.
func (p *prover) work(ctx context.Context) {
	for batch := p.next(); len(batch) > 0; batch = p.next() {
		bounded, cancel := context.WithTimeout(ctx, confirmTimeout)
		err := p.ask(bounded, batch)
		cancel()
		for _, q := range batch {
			if err != nil {
				q.answer = err
			}
			close(q.done)
		}
	}
}

// next takes as many questions as go into one transaction.
func (p *prover) next() []*asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	end, claims := 0, 0
	for end < len(p.waiting) && claims+len(p.waiting[end].claims) <= mostClaims {
		claims += len(p.waiting[end].claims)
		end++
	}
	batch := p.waiting[:end:end]
	p.waiting = p.waiting[end:]
	p.busy = end > 0
	return batch
}

// confirm makes sure that what was just read came from the right store.
func (g *Guard) confirm(ctx context.Context) error { return g.prove(ctx, question{}) }

// prove makes sure that something is true in the right store. An error is errNotThere
// if it is not, and otherwise says why that cannot be told.
func (g *Guard) prove(ctx context.Context, q question) error {
	if err := g.Check(); err != nil {
		return err
	}
	_, err := g.prover.prove(ctx, q)
	return err
}

// revision is what the right store has come to.
func (g *Guard) revision(ctx context.Context) (int64, error) {
	if err := g.Check(); err != nil {
		return 0, err
	}
	return g.prover.prove(ctx, question{})
}

// askAll answers questions that fit into one transaction. An error concerns all of
// them.
func (g *Guard) askAll(ctx context.Context, batch []*asked) error {
	var reads []clientv3.Op
	for _, q := range batch {
		for _, c := range q.claims {
			reads = append(reads, c.read())
		}
	}
	seen, found, err := g.readRight(ctx, reads)
	if isElsewhere(err) {
		return g.askEach(ctx, batch)
	}
	if err != nil {
		return err
	}
	for _, q := range batch {
		q.revision = seen.revision
		if seen.revision < q.reached {
			return g.isExchanged()
		}
		for _, c := range q.claims {
			if !c.isTrue(found[0]) {
				q.answer = errNotThere
			}
			found = found[1:]
		}
	}
	return nil
}

// askEach finds out which question is about a revision that etcd has not come to, or
// does not keep any more.
func (g *Guard) askEach(ctx context.Context, batch []*asked) error {
	if len(batch) > 1 {
		for _, q := range batch {
			if err := g.askAll(ctx, []*asked{q}); err != nil {
				return err
			}
		}
		return nil
	}
	seen, _, err := g.readRight(ctx, nil)
	if err != nil {
		return err
	}
	if seen.revision < batch[0].reached {
		return g.isExchanged()
	}
	batch[0].answer = errNotThere
	return nil
}

func isElsewhere(err error) bool {
	return errors.Is(err, rpctypes.ErrFutureRev) || errors.Is(err, rpctypes.ErrCompacted)
}

// readRight reads from the right store, or finds out that it is not there any more.
func (g *Guard) readRight(ctx context.Context, reads []clientv3.Op) (observation, []*clientv3.GetResponse, error) {
	// Others may set marks between two looks, and not so fast that it takes many.
	const looks = 5
	for range looks {
		known, reached, err := g.knows()
		if err != nil {
			return observation{}, nil, err
		}
		seen, found, err := g.store.readWith(ctx, confirmTimeout, reads)
		if err != nil {
			return observation{}, nil, g.outgrown(err)
		}
		if seen.revision >= reached && seen.follows(known) {
			g.remember(seen, 0)
			return seen, found, nil
		}
		// If others have set marks since this server has looked, the anchor knows them.
		noted, seen, err := g.compare(ctx)
		if err != nil {
			return observation{}, nil, err
		}
		if seen.revision < reached || !g.isRight(noted, seen) {
			return observation{}, nil, g.isExchanged()
		}
		g.remember(seen, 0)
	}
	return observation{}, nil, errors.New("the record of the store has changed at each of several looks: try again")
}

// knows is what is known about the right store: its latest record, and the revision
// that it has come to. The error is why it is not served.
func (g *Guard) knows() (observation, int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known, g.reached, g.refused
}
