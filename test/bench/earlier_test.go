//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"slices"
	"testing"

	"statefulset.dev/test/bench/measure"
	"statefulset.dev/test/harness/lab"
)

// againstEarlier compares our server with one of an earlier commit, and with nobody else: it
// should be no worse. What has a limit keeps it.
func (c benchCase) againstEarlier(exe string) (benchCase, error) {
	i := slices.IndexFunc(c.sides, func(s side) bool { return s.name == measure.Ours && s.start != nil })
	if i < 0 {
		return benchCase{}, fmt.Errorf("case %s is measured without a server, so there is none to compare with an earlier one", c.name)
	}
	before := c.sides[i].of(exe)
	c.sides = []side{c.sides[i], before}
	c.results = slices.Clone(c.results)
	for i, result := range c.results {
		goals := []measure.Goal{against(before, 1)}
		if limit := slices.IndexFunc(result.Goals, func(g measure.Goal) bool { return g.Bounded }); limit >= 0 {
			goals = []measure.Goal{result.Goals[limit], beside(before)}
		}
		c.results[i].Goals = goals
	}
	return c, nil
}

// of is the side with another server.
func (s side) of(exe string) side {
	own := s.start
	s.name = "earlier"
	s.start = func(t *testing.T, b *bench) *lab.Process {
		ours := b.server
		defer func() { b.server = ours }()
		b.server.Exe = exe
		return own(t, b)
	}
	return s
}
