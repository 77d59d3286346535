// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"

	v1 "statefulset.dev/api/apps/v1"
)

// objectGauge shows how many objects the templates of all sets have, by kind and not by set: a cluster
// has so many kinds, and users make as many sets as they like.
type objectGauge struct {
	*metrics.GaugeVec

	mu sync.Mutex
	// sets are what each set adds to the sums.
	sets map[cache.ObjectName]map[string]objectCounts
	// sums are those of all sets, by kind.
	sums map[string]objectCounts
}

// objectCounts are how many objects there are of a kind, in how many sets.
type objectCounts struct{ sets, wanted, present, updated, foreign, retired int64 }

func newObjectGauge() *objectGauge {
	return &objectGauge{
		sets: map[cache.ObjectName]map[string]objectCounts{}, sums: map[string]objectCounts{},
		GaugeVec: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Subsystem: "statefulset_controller", Name: "objects",
			Help:           "How many objects the templates of all sets want, how many are present, updated, of others (foreign), and to be deleted at some time (retired)",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "state"}),
	}
}

// show counts what a status tells of the templates of a set; it is in the place of what was told before.
func (g *objectGauge) show(key cache.ObjectName, templates []v1.ObjectTemplateStatus) {
	counts := map[string]objectCounts{}
	for _, t := range templates {
		of := counts[t.Kind].plus(objectCounts{0, int64(t.Wanted), int64(t.Present), int64(t.Updated), int64(t.Foreign), int64(t.Retired)})
		of.sets = 1
		counts[t.Kind] = of
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.sets[key]
	if maps.Equal(before, counts) {
		return
	}
	if g.sets[key] = counts; len(counts) == 0 {
		delete(g.sets, key)
	}
	for kind, had := range before {
		g.add(kind, had.negative())
	}
	for kind, has := range counts {
		g.add(kind, has)
	}
}

// add changes the sums of a kind. One that no set has any more is not shown.
func (g *objectGauge) add(kind string, more objectCounts) {
	sum := g.sums[kind].plus(more)
	if g.sums[kind] = sum; sum.sets == 0 {
		delete(g.sums, kind)
	}
	for state, n := range map[string]int64{"wanted": sum.wanted, "present": sum.present, "updated": sum.updated, "foreign": sum.foreign, "retired": sum.retired} {
		labels := map[string]string{"kind": kind, "state": state}
		if sum.sets == 0 {
			g.Delete(labels)
		} else {
			g.With(labels).Set(float64(n))
		}
	}
}

// reset drops all sets.
func (g *objectGauge) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.sets)
	clear(g.sums)
	g.Reset()
}

func (c objectCounts) plus(other objectCounts) objectCounts {
	return objectCounts{c.sets + other.sets, c.wanted + other.wanted, c.present + other.present, c.updated + other.updated, c.foreign + other.foreign, c.retired + other.retired}
}

func (c objectCounts) negative() objectCounts {
	return objectCounts{-c.sets, -c.wanted, -c.present, -c.updated, -c.foreign, -c.retired}
}
