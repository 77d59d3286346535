//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"net/http"
	"slices"
	"time"

	"statefulset.dev/test/bench/measure"
)

func listCase() benchCase {
	serving := oursServing(measure.Ours, "enforce")
	return benchCase{
		name: "list", title: "10,000 sets are listed, while no controller runs",
		sides: []side{serving, builtInKind(), customKind(), emptyHandler()},
		results: []measure.Result{
			{Measure: "JSON", Unit: "ms, median", Better: measure.Less, Goals: []measure.Goal{
				{Against: builtInKind().name, Ratio: 0.85, Or: &measure.Goal{Against: emptyHandler().name, Ratio: 1 / 1.15}},
				against(customKind(), 1),
			}},
			{Measure: "protobuf", Unit: "ms, median", Better: measure.Less, Goals: []measure.Goal{against(builtInKind(), 0.85)}},
		},
		take: func(t *turn) samples { return t.list(t.size(10_000)) },
	}
}

// lists is how often the sets are listed.
const lists = 9

func (t *turn) list(n int) samples {
	t.createAll("db", n, 0)
	got := samples{"JSON": t.listAs("application/json")}
	if t.side.name == measure.Ours || t.side.name == builtInKind().name {
		got["protobuf"] = t.listAs("application/vnd.kubernetes.protobuf")
	}
	return got
}

// listAs returns the median time of a list, in milliseconds.
func (t *turn) listAs(accept string) float64 {
	t.Helper()
	var took []time.Duration
	for range lists {
		begun := time.Now()
		// The version 0 asks for what is in memory, as informers do.
		if _, err := t.http.send(t.Context(), http.MethodGet, t.path("")+"?resourceVersion=0", "", accept, nil); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return milliseconds(took[len(took)/2])
}
