// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnotherMemberIsAskedIfOneTakesLong(t *testing.T) {
	refused := errors.New("no leader")
	type member struct {
		takes time.Duration
		err   error
	}
	tests := map[string]struct {
		members []member
		want    int // who is first to answer
		err     error
		after   time.Duration
		asked   int32
	}{
		"the first answers soon, and nobody else is asked": {
			members: []member{{takes: time.Millisecond}, {}}, want: 0, after: time.Millisecond, asked: 1},
		"the first is cut off, and the second answers": {
			members: []member{{takes: 7 * time.Second, err: refused}, {takes: time.Millisecond}}, want: 1, after: 501 * time.Millisecond, asked: 2},
		"two are cut off": {members: []member{{takes: time.Hour}, {takes: time.Hour}, {}}, want: 2, after: time.Second, asked: 3},
		"the first is slow, and not as slow as the second": {
			members: []member{{takes: 600 * time.Millisecond}, {takes: time.Second}}, want: 0, after: 600 * time.Millisecond, asked: 2},
		"an answer that it cannot be told is an answer": {members: []member{{err: refused}, {}}, want: 0, err: refused, asked: 1},
		"there is one member only, which is asked no two times": {
			members: []member{{takes: 7 * time.Second}}, want: 0, after: 7 * time.Second, asked: 1},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				began := time.Now()
				got, err := hedge(t.Context(), len(test.members), hedgeDelay, func(ctx context.Context) (int, error) {
					i := int(asked.Add(1)) - 1
					select {
					case <-time.After(test.members[i].takes):
						return i, test.members[i].err
					case <-ctx.Done():
						return i, ctx.Err()
					}
				})
				if got != test.want || !errors.Is(err, test.err) {
					t.Errorf("answer: got that of member %d (%v), want that of %d (%v)", got, err, test.want, test.err)
				}
				if took := time.Since(began); took != test.after {
					t.Errorf("time: got %s, want %s", took, test.after)
				}
				if asked.Load() != test.asked {
					t.Errorf("members asked: got %d, want %d", asked.Load(), test.asked)
				}
			})
		})
	}
}

func TestNobodyAnswersInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := hedge(ctx, 3, hedgeDelay, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}
