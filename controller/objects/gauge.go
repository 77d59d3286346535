// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"maps"
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"

	v1 "statefulset.dev/api/apps/v1"
)

// Gauge shows how many objects the templates of all sets have, by kind and not by set: a cluster
// has a limited number of kinds, but users create as many sets as they like.
type Gauge struct {
	*metrics.GaugeVec

	mu sync.Mutex
	// sets are the counts of each set.
	sets map[cache.ObjectName]map[string]counts
	// sums are the counts of all sets, by kind.
	sums map[string]counts
}

// counts are how many objects of a kind exist, and in how many sets.
type counts struct{ sets, wanted, present, updated, foreign, retired int64 }

// NewGauge returns a gauge that shows nothing yet, and that must be registered to be served.
func NewGauge() *Gauge {
	return &Gauge{
		sets: map[cache.ObjectName]map[string]counts{}, sums: map[string]counts{},
		GaugeVec: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Subsystem: "statefulset_controller", Name: "objects",
			Help:           "How many objects the templates of all sets want, how many are present, updated, not managed by the set (foreign), and to be deleted later (retired)",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "state"}),
	}
}

// Show counts the objects of a set's templates, according to its status. It replaces the set's
// earlier counts.
func (g *Gauge) Show(key cache.ObjectName, templates []v1.ObjectTemplateStatus) {
	now := map[string]counts{}
	for _, t := range templates {
		of := now[t.Kind].plus(counts{0, int64(t.Wanted), int64(t.Present), int64(t.Updated), int64(t.Foreign), int64(t.Retired)})
		of.sets = 1
		now[t.Kind] = of
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.sets[key]
	if maps.Equal(before, now) {
		return
	}
	if g.sets[key] = now; len(now) == 0 {
		delete(g.sets, key)
	}
	for kind, had := range before {
		g.add(kind, had.negative())
	}
	for kind, has := range now {
		g.add(kind, has)
	}
}

// add changes the sums of a kind. It stops showing a kind that no set has any more.
func (g *Gauge) add(kind string, more counts) {
	sum := g.sums[kind].plus(more)
	if g.sums[kind] = sum; sum.sets == 0 {
		delete(g.sums, kind)
	}
	for state, n := range map[string]int64{
		"wanted": sum.wanted, "present": sum.present, "updated": sum.updated, "foreign": sum.foreign, "retired": sum.retired} {
		labels := map[string]string{"kind": kind, "state": state}
		if sum.sets == 0 {
			g.Delete(labels)
		} else {
			g.With(labels).Set(float64(n))
		}
	}
}

// Drop drops all sets.
func (g *Gauge) Drop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.sets)
	clear(g.sums)
	g.Reset()
}

func (c counts) plus(other counts) counts {
	return counts{c.sets + other.sets, c.wanted + other.wanted, c.present + other.present, c.updated + other.updated,
		c.foreign + other.foreign, c.retired + other.retired}
}

func (c counts) negative() counts {
	return counts{-c.sets, -c.wanted, -c.present, -c.updated, -c.foreign, -c.retired}
}
