// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

const (
	// namespacesAtOnce is how many namespaces with recent writes are remembered. A forgotten
	// namespace has its whole burst again.
	namespacesAtOnce = 4096
	// leastBurst is somewhat more than the largest set that etcd stores.
	leastBurst = 2 << 20
)

// Room limits how much is written to the store: by each namespace, so that one namespace does not
// fill it for all, and in total, so that some room is left for status and deletions. It is the Room
// of registry/statefulset.
type Room struct {
	fill     func() fill
	remedies Remedies
	rate     rate.Limit
	burst    int

	mu     sync.Mutex
	spaces *lru.Cache // of *rate.Limiter, by namespace
}

// newRoom returns a room, without a rate limit if bytesPerSecond is 0.
func newRoom(bytesPerSecond, burst int64, fill func() fill, remedies Remedies) *Room {
	limit := rate.Limit(bytesPerSecond)
	if bytesPerSecond == 0 {
		limit = rate.Inf
	}
	return &Room{fill: fill, remedies: remedies, rate: limit, burst: int(burst), spaces: lru.New(namespacesAtOnce)}
}

// Take refuses writes that grow while the store is nearly full (507), and writes of a namespace
// beyond its rate (429, with the time after which to retry).
func (r *Room) Take(namespace string, bytes int, grows bool) error {
	if full := r.fill(); grows && full.refuses() {
		return insufficientStorage(full.explain(r.remedies))
	}
	now, bytes := time.Now(), min(bytes, r.burst)
	limiter := r.limiter(namespace)
	if limiter.AllowN(now, bytes) {
		return nil
	}
	return r.tooMuch(namespace, bytes, limiter.TokensAt(now))
}

// peek returns what Take would return for a number of bytes, and reserves none.
func (r *Room) peek(namespace string, bytes int64) error {
	left := r.limiter(namespace).TokensAt(time.Now())
	if wanted := min(bytes, int64(r.burst)); r.rate != rate.Inf && float64(wanted) > left {
		return r.tooMuch(namespace, int(wanted), left)
	}
	return nil
}

// tooMuch says when there will be room again.
func (r *Room) tooMuch(namespace string, bytes int, left float64) error {
	wait := math.Ceil((float64(bytes) - left) / float64(r.rate))
	return apierrors.NewTooManyRequests(fmt.Sprintf(
		"namespace %q writes more than %s a second to the store, after a burst of %s; a possible reason is that sets are applied again and again without need; try again in %.0f s",
		namespace, inBytes(int64(r.rate)), inBytes(int64(r.burst)), max(1, wait)), int(max(1, wait)))
}

func (r *Room) limiter(namespace string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.spaces.Get(namespace); ok {
		return known.(*rate.Limiter)
	}
	limiter := rate.NewLimiter(r.rate, r.burst)
	r.spaces.Add(namespace, limiter)
	return limiter
}

// insufficientStorage is an answer that clients show. They do not retry it as they retry 429:
// waiting does not help, because a user must free some room.
func insufficientStorage(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInsufficientStorage, Reason: "InsufficientStorage", Message: message,
	}}
}

// inBytes formats a number of bytes; large numbers are rounded down to MiB.
func inBytes(n int64) string {
	const mebi = 1 << 20
	if n > 10*mebi {
		n -= n % mebi
	}
	return resource.NewQuantity(n, resource.BinarySI).String() + "B"
}
