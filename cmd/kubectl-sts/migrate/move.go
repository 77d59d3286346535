// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"

	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// mostRounds limits how often a step is repeated because another client keeps changing the set.
const mostRounds = 5

// move is the move of one set.
type move struct {
	cluster
	key types.NamespacedName
	// patience is the maximum time of each step.
	patience time.Duration
	out      io.Writer
}

func (m move) printf(format string, values ...any) {
	fmt.Fprintf(m.out, "%s: %s\n", terminal.Line(m.key.Name), terminal.Line(fmt.Sprintf(format, values...)))
}

// follow performs the steps of a route until its end.
func (m move) follow(ctx context.Context, decide route) error {
	rounds := map[step]int{}
	for {
		passed, err := m.stage(ctx, decide)
		if err != nil || passed == done {
			return err
		}
		m.printf("done: %s", passed)
		if rounds[passed]++; rounds[passed] > mostRounds {
			return fmt.Errorf("%s: repeated %d times, because another client keeps changing the set; find that client, and run this again", passed,
				rounds[passed])
		}
	}
}

// lateError says that a step took too long.
type lateError struct {
	step     step
	patience time.Duration
	trouble  error
}

func (e *lateError) Error() string {
	text := fmt.Sprintf("no step succeeded within %s", e.patience)
	if e.step != done {
		text = fmt.Sprintf("%s: took longer than %s", e.step, e.patience)
	}
	if e.trouble != nil {
		text += ": " + e.trouble.Error()
	}
	return text + "; run this again to continue, or with --undo to go back"
}

func (e *lateError) Unwrap() error { return e.trouble }

// stage decides on a step, and performs it or waits for it. It returns done if no step was left.
func (m move) stage(ctx context.Context, decide route) (step, error) {
	var trouble error
	passed, awaited := done, done
	bounded, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	err := intervals().Until(bounded, true, true, func(ctx context.Context) (bool, error) {
		next, s, err := m.observeAndDecide(ctx, decide)
		switch {
		case err != nil:
		case awaited != done && next != awaited:
			passed = awaited
			return true, nil
		case next == done:
			return true, nil
		case next.waits():
			awaited = next
			return false, nil
		default:
			if err = m.act(ctx, next, s); err == nil {
				passed = next
				return true, nil
			}
			err = fmt.Errorf("cannot %s: %w", next, err)
		}
		if isTransient(err) {
			trouble = err
			return false, nil
		}
		return false, err
	})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return done, &lateError{awaited, m.patience, trouble}
	}
	return passed, err
}

func (m move) observeAndDecide(ctx context.Context, decide route) (step, situation, error) {
	s, err := m.observe(ctx, m.key)
	if err != nil {
		return done, s, err
	}
	next, err := decide(s)
	return next, s, err
}

// intervals returns the delays between two observations.
func intervals() wait.DelayFunc {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: 10, Cap: 2 * time.Second}.DelayFunc()
}

// isTransient reports whether it makes sense to retry after an error: another client has changed an
// object first, or a server has a temporary problem.
func isTransient(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTimeout(err) || apierrors.IsInternalError(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) ||
		utilnet.IsProbableEOF(err)
}
