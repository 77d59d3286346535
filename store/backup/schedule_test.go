// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// TestWhatIsOutdated needs no store: names tell.
func TestWhatIsOutdated(t *testing.T) {
	const (
		one, two, three = "sets-00000001-20261122T120000Z-AAAAAAAA.backup", "sets-00000002-20261122T130000Z-AAAAAAAA.backup",
			"sets-00000003-20261122T140000Z-AAAAAAAA.backup"
		// early has the time of a clock that is years behind.
		early = "sets-00000004-20200101T000000Z-AAAAAAAA.backup"
		ahead = "sets-00000001-20360101T000000Z-AAAAAAAA.backup"
		other = "sets-00000003-20261122T140000Z-BBBBBBBB.backup"
	)
	cases := map[string]struct {
		there    []string
		verified string
		keep     int
		want     []string
	}{
		"nothing while there are few":                          {[]string{one, two}, two, 2, nil},
		"the oldest beyond those that are kept":                {[]string{three, one, two}, three, 2, []string{one}},
		"one that was verified is no unverified one":           {[]string{one, two + unverified, three}, three, 2, nil},
		"an attempt that was given up":                         {[]string{one + unverified, two, three}, three, 5, []string{one + unverified}},
		"one that was begun by a clock which is years ahead":   {[]string{ahead + unverified, three}, three, 5, []string{ahead + unverified}},
		"not one that another replica may be making":           {[]string{two + unverified, other + unverified, three}, three, 5, nil},
		"the number says what is older, not the clock":         {[]string{one, two, three, early}, early, 2, []string{one, two}},
		"of two that were begun at once, both are kept":        {[]string{three, other}, three, 2, nil},
		"never the one that was just verified":                 {[]string{three, other}, three, 1, nil},
		"nothing that somebody else has put there":             {[]string{"notes.txt", "sets-1.backup", one + ".old", three}, three, 1, nil},
		"as many as there are, if the number was made smaller": {[]string{one, two, three}, three, 1, []string{one, two}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, gone := range outdated(parseCopies(c.there), parseCopies([]string{c.verified})[0], c.keep) {
				got = append(got, gone.file())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestTheNextCopyFollowsAllOthers(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 5, time.UTC)
	others := parseCopies([]string{"sets-00000041-20261122T120000Z-AAAAAAAA.backup", "sets-00000007-20301122T120000Z-AAAAAAAA.backup"})
	next := nextCopy(others, now)
	if next.number != 42 {
		t.Errorf("got number %d, want 42", next.number)
	}
	if got := parseCopies([]string{next.file()}); len(got) != 1 || got[0] != next {
		t.Errorf("reading %s: got %+v, want %+v", next.file(), got, next)
	}
}

func TestWhenACopyIsDue(t *testing.T) {
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	etcd := store(t)
	newSchedule := func(t *testing.T) (*schedule, *time.Time) {
		k := keeperOf(t, etcd)
		now := start
		k.Now = func() time.Time { return now }
		return newSchedule(k), &now
	}
	expect := func(t *testing.T, s *schedule, leads bool, want int, when string) {
		t.Helper()
		s.sync(t.Context(), leads)
		if got := len(there(t, s.Keeper)); got != want {
			t.Errorf("%s: got %d copies, want %d", when, got, want)
		}
	}
	t.Run("a replica that does not lead makes none", func(t *testing.T) {
		s, _ := newSchedule(t)
		expect(t, s, false, 0, "at once")
		expect(t, s, true, 1, "when it leads")
	})
	t.Run("one that begins to lead goes on where the other one has stopped", func(t *testing.T) {
		s, now := newSchedule(t)
		expect(t, s, true, 1, "at once")
		s.sync(t.Context(), false)
		*now = start.Add(time.Hour - time.Second)
		expect(t, s, true, 1, "a second too early")
		*now = start.Add(time.Hour)
		expect(t, s, true, 2, "an hour after the first")
	})
	t.Run("a copy from the future does not hold up the next", func(t *testing.T) {
		s, now := newSchedule(t)
		*now = start.AddDate(10, 0, 0)
		expect(t, s, true, 1, "with a clock that is wrong")
		s.sync(t.Context(), false)
		*now = start
		expect(t, s, true, 2, "with one that is right")
		expect(t, s, true, 2, "at once after it")
	})
	t.Run("what fails is tried again, later each time", func(t *testing.T) {
		s, now := newSchedule(t)
		s.Place = &broken{Place: s.Place, put: errors.New("403 Forbidden")}
		var delays []time.Duration
		for range 8 {
			*now = s.due
			if now.IsZero() {
				*now = start
			}
			s.sync(t.Context(), true)
			delays = append(delays, s.due.Sub(*now))
		}
		for i := 1; i < len(delays); i++ {
			if delays[i] < delays[i-1]*3/2 && delays[i] < s.Every {
				t.Errorf("got delays %v, want each twice the one before, up to %s", delays, s.Every)
				break
			}
		}
		if last := delays[len(delays)-1]; last > s.Every*5/4 {
			t.Errorf("got %s at last, want about %s at most", last, s.Every)
		}
	})
	t.Run("a copy counts although the older ones cannot be removed", func(t *testing.T) {
		s, now := newSchedule(t)
		s.Place = &broken{Place: s.Place, remove: errors.New("403 Forbidden")}
		for i := range 4 {
			*now = start.Add(time.Duration(i) * time.Hour)
			expect(t, s, true, i+1, "an hour later")
			expect(t, s, true, i+1, "at once after it")
		}
	})
	t.Run("an end of the replica is no failure", func(t *testing.T) {
		s, _ := newSchedule(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.sync(ctx, true)
		if !s.due.IsZero() {
			t.Errorf("got an attempt at %s, want none", s.due)
		}
	})
}
