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

// A store may be replaced while the server runs, and the server does not read the record before
// everything else that it reads. So the data is proven afterwards: one transaction reads the record
// together with the keys of the answer. If the record is that of the right store, and the keys are
// as they were read, then the answer is true in the right store, wherever it was read from.
//
// Questions that arrive while one is asked wait, and are then asked together.

// errNotThere says that something was not read from the right store, or is no longer true.
var errNotThere = errors.New("the data that was read is no longer in the store: try again")

// question is what must be true in the right store.
type question struct {
	// reached is the revision that the store must have reached.
	reached    int64
	assertions []keyAssertion
}

// keyAssertion is a statement about one key of etcd.
type keyAssertion struct {
	key string
	// at is the revision at which the key is read, 0 for now.
	at int64
	// version is the revision at which the key was last written, or deleted if absent is true.
	version int64
	absent  bool
}

func (c keyAssertion) isTrue(found *clientv3.GetResponse) bool {
	if len(found.Kvs) == 0 {
		return c.absent
	}
	return found.Kvs[0].ModRevision == c.version
}

func (c keyAssertion) read() clientv3.Op {
	return clientv3.OpGet(c.key, clientv3.WithRev(c.at), clientv3.WithKeysOnly())
}

// maxAssertions is how many assertions are checked at a time: etcd accepts 128 operations in a
// transaction, and one is for the record.
const maxAssertions = 127

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
	// revision is the revision of the right store.
	revision int64
	done     chan struct{}
}

// prove returns when an answer has arrived that was requested after the call.
func (p *prover) prove(ctx context.Context, q question) (revision int64, err error) {
	if len(q.assertions) > maxAssertions {
		return 0, fmt.Errorf("checking %d keys at a time: the limit is %d", len(q.assertions), maxAssertions)
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

// work asks until no question is waiting.
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

// next takes as many questions as fit into one transaction.
func (p *prover) next() []*asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	end, claims := 0, 0
	for end < len(p.waiting) && claims+len(p.waiting[end].assertions) <= maxAssertions {
		claims += len(p.waiting[end].assertions)
		end++
	}
	batch := p.waiting[:end:end]
	p.waiting = p.waiting[end:]
	p.busy = end > 0
	return batch
}

// confirm verifies that the data that was just read came from the right store.
func (g *Guard) confirm(ctx context.Context) error { return g.prove(ctx, question{}) }

// prove verifies that something is true in the right store. The error is errNotThere if it is not
// true, and otherwise says why that is not known.
func (g *Guard) prove(ctx context.Context, q question) error {
	if err := g.Check(); err != nil {
		return err
	}
	_, err := g.prover.prove(ctx, q)
	return err
}

// revision is the current revision of the right store.
func (g *Guard) revision(ctx context.Context) (int64, error) {
	if err := g.Check(); err != nil {
		return 0, err
	}
	return g.prover.prove(ctx, question{})
}

// askAll answers questions that fit into one transaction. An error concerns all of them.
func (g *Guard) askAll(ctx context.Context, batch []*asked) error {
	var reads []clientv3.Op
	for _, q := range batch {
		for _, c := range q.assertions {
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
			return g.stopServing()
		}
		for _, c := range q.assertions {
			if !c.isTrue(found[0]) {
				q.answer = errNotThere
			}
			found = found[1:]
		}
	}
	return nil
}

// askEach determines which question is about a revision that etcd has not reached, or no longer
// has.
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
		return g.stopServing()
	}
	batch[0].answer = errNotThere
	return nil
}

func isElsewhere(err error) bool {
	return errors.Is(err, rpctypes.ErrFutureRev) || errors.Is(err, rpctypes.ErrCompacted)
}

// readRight reads from the right store, or detects that it was replaced.
func (g *Guard) readRight(ctx context.Context, reads []clientv3.Op) (observation, []*clientv3.GetResponse, error) {
	// Other replicas may set marks between two reads, but not so fast that many attempts are
	// needed.
	const attempts = 5
	for range attempts {
		known, reached, err := g.knownState()
		if err != nil {
			return observation{}, nil, err
		}
		seen, found, err := g.store.readWith(ctx, confirmTimeout, reads)
		if err != nil {
			return observation{}, nil, g.stopIfTooNew(err)
		}
		if seen.revision >= reached && seen.follows(known) {
			g.remember(seen, 0)
			return seen, found, nil
		}
		// If other replicas have set marks since this server last read the record, the note knows
		// them.
		note, seen, err := g.compare(ctx)
		if err != nil {
			return observation{}, nil, err
		}
		if seen.revision < reached || !g.isRight(note, seen) {
			return observation{}, nil, g.stopServing()
		}
		g.remember(seen, 0)
	}
	return observation{}, nil, errors.New("the record of the store has changed at each of several reads: try again")
}

// knownState returns what is known about the right store: its latest record, and the revision that
// it has reached. The error is why it is not served.
func (g *Guard) knownState() (observation, int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known, g.reached, g.refused
}
