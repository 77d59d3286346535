// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/store/embedded"
	"statefulset.dev/store/space"
)

const mebi = 1 << 20

// startSmall starts a server whose etcd has a small quota.
func startSmall(t *testing.T, quota, bytesPerSecond, burst int64) (*servertest.Server, *clientv3.Client) {
	t.Helper()
	etcd, err := embedded.StartWithQuota(t.Context(), t.TempDir(), quota)
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	t.Cleanup(func() {
		if err := etcd.Close(); err != nil {
			t.Errorf("stopping etcd: %v", err)
		}
	})
	var client *clientv3.Client
	s := servertest.StartWith(t, func(o *apiserver.Options) {
		o.Storage.Etcd.StorageConfig.Transport.ServerList = []string{etcd.Endpoint()}
		var err error
		if client, err = o.Storage.Client(); err != nil {
			t.Fatalf("opening the store: %v", err)
		}
		t.Cleanup(func() { _ = client.Close() })
	}, func(c *apiserver.Config) {
		var stop func()
		c.Room, stop = space.StartRoom(context.Background(), client, 20*time.Millisecond, bytesPerSecond, burst,
			space.Remedies{Defragment: "defragment", Enlarge: "ask the operator"})
		t.Cleanup(stop)
	})
	return s, client
}

// heavy is a set of about so many bytes.
func heavy(name, namespace string, bytes int) *v1.StatefulSet {
	set := servertest.Web(name)
	set.Namespace = namespace
	set.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TEXT", Value: strings.Repeat("x", bytes)}}
	return set
}

// putOnce updates a set once, whatever the answer is.
func putOnce(ctx context.Context, s *servertest.Server, set *v1.StatefulSet, subresource ...string) error {
	return s.Clients.AppsV1().RESTClient().Put().MaxRetries(0).Namespace(set.Namespace).
		Resource("statefulsets").Name(set.Name).SubResource(subresource...).Body(set).Do(ctx).Error()
}

// postOnce creates a set once.
func postOnce(ctx context.Context, s *servertest.Server, set *v1.StatefulSet) error {
	return s.Clients.AppsV1().RESTClient().Post().MaxRetries(0).Namespace(set.Namespace).
		Resource("statefulsets").Body(set).Do(ctx).Error()
}

func TestANamespaceThatFloodsTheStoreDoesNotStopAnother(t *testing.T) {
	const quota = 32 * mebi
	s, etcd := startSmall(t, quota, 2*mebi, 8*mebi)
	for _, set := range []*v1.StatefulSet{heavy("big", "flood", mebi), heavy("small", "calm", 10)} {
		if err := postOnce(t.Context(), s, set); err != nil {
			t.Fatalf("creating %s: %v", set.Name, err)
		}
	}
	alone := writeCalmly(t, s, 30)

	ctx, stop := context.WithCancel(t.Context())
	var flooding sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for i := range 4 {
		flooding.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				set := heavy("big", "flood", mebi)
				set.Annotations = map[string]string{"n": fmt.Sprint(i, n)}
				answer := flooded(ctx, t, s, set)
				mu.Lock()
				answers[answer]++
				mu.Unlock()
				if answer == "429" { // it is told to wait for a second at least, and waits far less
					pause(ctx, 50*time.Millisecond)
				}
			}
		})
	}
	s.Eventually(t, "the flood has tried to write more than the quota", func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		tried := 0
		for _, n := range answers {
			tried += n
		}
		if tried*mebi < 3*quota {
			return fmt.Errorf("got %d writes of 1 MiB", tried)
		}
		return nil
	})
	beside := writeCalmly(t, s, 30)
	stop()
	flooding.Wait()

	alarms, err := etcd.AlarmList(t.Context())
	if err != nil || len(alarms.Alarms) != 0 {
		t.Errorf("alarms of etcd: got %v, %v, want none", alarms, err)
	}
	if answers["429"] == 0 {
		t.Errorf("answers to the flood: got %v, want 429 for most", answers)
	}
	t.Logf("answers to the flood: %v; of the other namespace 60 of 60 writes succeeded, median of 30 alone %s, beside the flood %s (%.1f times), slowest %s and %s",
		answers, alone[15], beside[15], float64(beside[15])/float64(alone[15]), alone[29], beside[29])
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}

// flooded is a short form of the answer to a write of the flood.
func flooded(ctx context.Context, t *testing.T, s *servertest.Server, set *v1.StatefulSet) string {
	err := putOnce(ctx, s, set)
	switch {
	case err == nil:
		return "200"
	case apierrors.IsTooManyRequests(err):
		if seconds, ok := apierrors.SuggestsClientDelay(err); !ok || seconds < 1 ||
			!strings.Contains(err.Error(), `namespace "flood" writes more than 2MiB a second`) {
			t.Errorf("refusal: got %q after %d s, want the namespace, the limit, and when to try again", err, seconds)
		}
		return "429"
	case ctx.Err() != nil:
		return "stopped"
	default:
		return err.Error()
	}
}

// writeCalmly writes small sets one after the other, all of which must succeed, and returns how long they took, the shortest first.
func writeCalmly(t *testing.T, s *servertest.Server, writes int) []time.Duration {
	t.Helper()
	var took []time.Duration
	for n := range writes {
		set := heavy("small", "calm", 10)
		set.Annotations = map[string]string{"n": fmt.Sprint(time.Now().UnixNano(), n)}
		begun := time.Now()
		if err := putOnce(t.Context(), s, set); err != nil {
			t.Fatalf("write %d of the other namespace: %v, want no error", n, err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took
}

func TestAFullStoreKeepsRoomForStatusAndDeletions(t *testing.T) {
	s, etcd := startSmall(t, 96*mebi, 0, space.LeastBurst)
	var refused error
	created, refusals := 0, 0
	for refusals < 5 && created < 100 { // more than one, since compaction makes some room
		if err := postOnce(t.Context(), s, heavy(fmt.Sprint("web-", created), servertest.Namespace, mebi)); err == nil {
			created, refusals = created+1, 0
		} else if smaller, failed := defragmented(t.Context(), etcd); failed != nil {
			t.Fatalf("making the file of etcd smaller: %v", failed)
		} else if !smaller {
			refused = err
			refusals++
		}
		pause(t.Context(), 40*time.Millisecond) // etcd is asked every 20 ms; a real one is not filled between two looks
	}
	var status apierrors.APIStatus
	if !errors.As(refused, &status) || status.Status().Code != http.StatusInsufficientStorage {
		t.Fatalf("after %d sets of 1 MiB in a store of 96 MiB: got %v, want 507", created, refused)
	}
	t.Logf("after %d sets of 1 MiB in a store of 96 MiB: %v", created, refused)
	for _, part := range []string{"the store is full", "quota of 96MiB", "85 %", "delete sets that are not needed", "ask the operator"} {
		if !strings.Contains(refused.Error(), part) {
			t.Errorf("refusal: got %q, want %q in it", refused, part)
		}
	}

	ready := heavy("web-0", servertest.Namespace, mebi)
	ready.Status.Replicas = 3
	if err := putOnce(t.Context(), s, ready, "status"); err != nil {
		t.Errorf("writing status: got %v, want no error", err)
	}
	if err := putOnce(t.Context(), s, heavy("web-0", servertest.Namespace, mebi+1000)); err == nil {
		t.Error("a set that grows: got no error, want 507")
	}
	if err := putOnce(t.Context(), s, heavy("web-0", servertest.Namespace, 10)); err != nil {
		t.Errorf("a set that shrinks: got %v, want no error", err)
	}
	for n := 1; n < created; n++ {
		if err := s.Sets().Delete(t.Context(), fmt.Sprint("web-", n), metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting: got %v, want no error", err)
		}
	}
	s.Eventually(t, "there is room again", func(ctx context.Context) error {
		err := postOnce(ctx, s, heavy("again", servertest.Namespace, mebi))
		if err == nil {
			return nil
		}
		_, failed := defragmented(ctx, etcd)
		return errors.Join(err, failed)
	})
	if alarms, err := etcd.AlarmList(t.Context()); err != nil || len(alarms.Alarms) != 0 {
		t.Errorf("alarms of etcd: got %v, %v, want none", alarms, err)
	}
}

// defragmented makes the file of etcd smaller if more than 4 MiB of it are not in use, and reports
// whether it did: where etcd compacts late, the file grows to the quota before the store is full.
func defragmented(ctx context.Context, etcd *clientv3.Client) (bool, error) {
	endpoint := etcd.Endpoints()[0]
	status, err := etcd.Status(ctx, endpoint)
	if err != nil || status.DbSize-status.DbSizeInUse <= 4*mebi {
		return false, err
	}
	_, err = etcd.Defragment(ctx, endpoint)
	return err == nil, err
}

func TestWhatNeedsNoRoom(t *testing.T) {
	s, _ := startSmall(t, 64*mebi, 1, 3*mebi) // after the burst, one byte a second
	if err := postOnce(t.Context(), s, heavy("web", servertest.Namespace, mebi)); err != nil {
		t.Fatalf("creating: %v", err)
	}
	held := heavy("held", servertest.Namespace, mebi/2)
	held.Finalizers = []string{"example.com/hold"}
	if err := postOnce(t.Context(), s, held); err != nil {
		t.Fatalf("creating: %v", err)
	}
	for n := range 10 {
		if err := putOnce(t.Context(), s, heavy("web", servertest.Namespace, mebi)); err != nil {
			t.Errorf("an update that changes nothing, for the %d. time: got %v, want no error", n+1, err)
		}
	}
	if err := putOnce(t.Context(), s, heavy("web", servertest.Namespace, mebi+1)); err != nil {
		t.Errorf("an update within the burst: got %v, want no error", err)
	}
	if err := putOnce(t.Context(), s, heavy("web", servertest.Namespace, mebi-1)); !apierrors.IsTooManyRequests(err) {
		t.Errorf("an update beyond the rate: got %v, want 429", err)
	}
	if err := putOnce(t.Context(), s, heavy("web", "other", mebi)); !apierrors.IsNotFound(err) {
		t.Errorf("another namespace: got %v, want that the set is not found", err)
	}
	if err := s.Sets().Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Errorf("deleting a set with a finalizer: got %v, want no error", err)
	}
	if _, err := s.Sets().Patch(t.Context(), "held", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`),
		metav1.PatchOptions{}); err != nil {
		t.Errorf("removing the finalizer of a set that is being deleted: got %v, want no error", err)
	}
}
