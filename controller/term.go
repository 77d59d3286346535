// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"statefulset.dev/controller/objects"
	"statefulset.dev/window"
)

// term is one period in which this replica leads. It has its own caches, queue and memory, so that
// nothing outlives it.
type term struct {
	config Config

	// checkLease returns an error if the term is over although its context has not ended.
	checkLease func() error
	kinds      kinds
	informers  informers
	view       view
	queue      workqueue.TypedRateLimitingInterface[cache.ObjectName]
	// slots are reserved by writes, detachedSyncs by syncs that no worker waits for.
	slots         *slots
	detachedSyncs chan struct{}
	// syncs are the running syncs, and other goroutines that the term must wait for.
	syncs           sync.WaitGroup
	states          *setStates
	quotas          *quotas
	changes         *changes
	capabilities    *capabilities
	interruptedSets *interruptedSets
	objectWatcher   *objects.Watcher
	gauges          *gauges
	recorder        record.EventRecorder
}

func newTerm(config Config, all kinds, gauges *gauges, checkLease func() error) *term {
	informers, view := newInformers(all)
	t := &term{
		config:     config,
		checkLease: checkLease,
		gauges:     gauges,
		kinds:      all,
		informers:  informers,
		view:       view,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](shortestBackoff, longestBackoff),
			// A delay does not depend on the time to which a clock is set meanwhile.
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "statefulset"}),
		slots:           newSlots(writesAtOnce, window.New(leastWindow, firstWindow, writesAtOnce)),
		detachedSyncs:   make(chan struct{}, writesAtOnce),
		states:          newSetStates(),
		quotas:          newQuotas(config.Host),
		changes:         newChanges(config.Host),
		capabilities:    &capabilities{host: config.Host},
		interruptedSets: newInterruptedSets(),
	}
	t.objectWatcher = t.newObjectWatcher()
	return t
}

// run fills the caches, works until the context ends, and returns when the last sync has ended.
func (t *term) run(ctx context.Context) {
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(t.config.Events)
	t.recorder = broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: "statefulset-apiserver"})

	var running sync.WaitGroup
	defer t.gauges.reset()
	defer t.objectWatcher.Begin(ctx)()
	defer t.syncs.Wait()
	defer running.Wait()
	defer t.queue.ShutDown()
	t.handleEvents()
	for i := range t.kinds {
		running.Go(func() { t.runInformer(ctx, &t.kinds[i]) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), t.informers.synced()...) {
		return
	}
	klog.FromContext(ctx).Info("Controlling sets", "identity", t.config.Identity)
	t.evaluateInterruptedSets(ctx)
	for range t.config.ConcurrentSyncs {
		running.Go(func() { t.work(ctx) })
	}
	<-ctx.Done()
}

// runInformer keeps the view of a kind up to date until the context ends. Sets come first: what the
// caches keep of other objects depends on which sets exist.
func (t *term) runInformer(ctx context.Context, kind *kind) {
	if kind.resource != setsResource && !cache.WaitFor(ctx, "", t.informers[setsResource].HasSyncedChecker()) {
		return
	}
	t.informers[kind.resource].RunWithContext(ctx)
}

// ready returns an error that names the kinds that are not listed yet, or the set that is evaluated
// before the workers begin.
func (t *term) ready() error {
	if missing := t.informers.unsynced(t.kinds); missing != "" {
		return fmt.Errorf("the controller leads and still waits for its first list of %s", missing)
	}
	return t.interruptedSets.ready()
}
