//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"statefulset.dev/test/bench/measure"
)

// verb is a request that is made of each of some objects. Target is how it should compare
// with the built-in kind.
type verb struct {
	name   string
	target float64
	do     func(t *turn, ctx context.Context, object string, i int) error
}

// verbs come in an order in which each finds what it needs: the first creates the objects,
// the last deletes them.
func verbs() []verb {
	return []verb{
		{"create", 0.7, func(t *turn, ctx context.Context, object string, _ int) error {
			return t.request(ctx, "POST", "", "application/json", set(object, 0, withClaim))
		}},
		{"get", 0.85, func(t *turn, ctx context.Context, object string, _ int) error {
			return t.request(ctx, "GET", object, "", nil)
		}},
		{"list", 0.85, func(t *turn, ctx context.Context, _ string, _ int) error { return t.request(ctx, "GET", "", "", nil) }},
		{"patch", 0.85, func(t *turn, ctx context.Context, object string, i int) error {
			change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"turn": fmt.Sprint(i)}}}
			return t.request(ctx, "PATCH", object, "application/merge-patch+json", change)
		}},
		{"apply", 0.85, func(t *turn, ctx context.Context, object string, i int) error {
			applied := t.manifest(set(object, 0, withClaim))
			applied["metadata"] = map[string]any{"name": object, "labels": map[string]any{"turn": fmt.Sprint(i)}}
			return t.request(ctx, "PATCH", object+"?fieldManager=bench&force=true", "application/apply-patch+yaml", applied)
		}},
		{"delete", 0.85, func(t *turn, ctx context.Context, object string, _ int) error {
			return t.request(ctx, "DELETE", object, "application/json", nil)
		}},
	}
}

// request sends one request about the sets of the turn. A set goes out under the name that
// the side has for it.
func (t *turn) request(ctx context.Context, method, object, contentType string, body map[string]any) error {
	var raw []byte
	if body != nil {
		if body["kind"] != nil {
			body = t.manifest(body)
		}
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	_, err := t.http.do(ctx, method, t.path(object), contentType, raw)
	return err
}

func apiCase() benchCase {
	c := benchCase{
		name: "api", title: "requests about sets of no members, while no controller runs",
		sides: []side{oursServing("ours", "enforce"), oursServing(noPreflight, "off"), builtInKind(), customKind(), emptyHandler()},
		take:  func(t *turn) samples { return t.verbs() },
	}
	for _, v := range verbs() {
		goals := []measure.Goal{against(builtInKind(), v.target), against(customKind(), 1)}
		goals[0].Or = &measure.Goal{Against: emptyHandler().name, Ratio: 1 / 1.15}
		if v.name == "create" || v.name == "apply" {
			goals = append(goals, measure.Goal{Against: noPreflight})
		}
		c.results = append(c.results,
			measure.Result{Measure: v.name + ", 16 at a time", Unit: "per second", Better: measure.More, Goals: goals},
			measure.Result{Measure: v.name + ", alone", Unit: "ms, median", Better: measure.Less, Goals: goals})
	}
	return c
}

const noPreflight = "ours, without preflight"

// verbs makes each request of each object, of a quarter of them one after the other, and
// of the rest 16 at a time. Lists are made of all objects, so fewer will do.
func (t *turn) verbs() samples {
	got, n := samples{}, t.size(800)
	objects := make([]string, n)
	for i := range objects {
		objects[i] = fmt.Sprintf("db%d", i)
	}
	for _, v := range verbs() {
		alone, together := objects[:n/4], objects[n/4:]
		if v.name == "list" {
			alone, together = objects[:n/40+1], objects[:n/10+1]
		}
		got[v.name+", alone"] = t.oneByOne(v, alone)
		got[v.name+", 16 at a time"] = t.together(v, together)
	}
	maps.DeleteFunc(got, func(_ string, value float64) bool { return value == 0 })
	return got
}

// oneByOne returns the median time of a request, in milliseconds.
func (t *turn) oneByOne(v verb, objects []string) float64 {
	t.Helper()
	var took []time.Duration
	for i, object := range objects {
		begun := time.Now()
		if err := v.do(t, t.Context(), object, i); err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		took = append(took, time.Since(begun))
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return milliseconds(took[len(took)/2])
}

// together returns how many requests are answered in a second.
func (t *turn) together(v verb, objects []string) float64 {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(requesters)
	begun := time.Now()
	for i, object := range objects {
		group.Go(func() error { return v.do(t, ctx, object, i) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	return float64(len(objects)) / time.Since(begun).Seconds()
}
