// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"net/http"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

// TestTheTimeOfTheHostIsReadFromItsAnswers has a host whose clock differs from the controller's.
func TestTheTimeOfTheHostIsReadFromItsAnswers(t *testing.T) {
	const month, second, half = 30 * 24 * time.Hour, time.Second, 500 * time.Millisecond
	begin := time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	type answer struct {
		// ahead is by how much the host's clock is, and took for how long the request was under way.
		ahead, took time.Duration
		status      int
		silent      bool
	}
	for sentence, test := range map[string]struct {
		answers []answer
		// least and most are between what the time is, as compared with the host's.
		least, most time.Duration
		unknown     bool
		// jump is how the own clock is set after the last answer.
		jump time.Duration
	}{
		"before the first answer the time is not known": {unknown: true},
		"an answer that has no date says nothing":       {answers: []answer{{silent: true}}, unknown: true},
		"an answer that may be that of a proxy says nothing": {
			answers: []answer{{ahead: month, status: http.StatusBadGateway}}, unknown: true},
		"a clock that is right is not touched":        {answers: []answer{{}, {}, {took: second}}},
		"a refusal has a date, too":                   {answers: []answer{{ahead: month, status: http.StatusNotFound}}, least: -second},
		"a clock that is a month behind is set right": {answers: []answer{{ahead: month}}, least: -second},
		"a clock that is a month ahead is set right":  {answers: []answer{{ahead: -month}}, most: second},
		"a slow answer leaves the time open":          {answers: []answer{{ahead: -month, took: 9 * second}}, most: 10 * second},
		"a fast answer after a slow one draws it closer": {
			answers: []answer{{ahead: -month, took: 9 * second}, {ahead: -month}}, most: second},
		"a slow answer after a fast one does not": {
			answers: []answer{{ahead: -month}, {ahead: -month, took: 9 * second}}, most: second},
		"of answers that contradict each other the last counts": {answers: []answer{{}, {ahead: month}}, least: -second},
		"a clock that is set ahead is not believed":             {answers: []answer{{}}, jump: month, most: second},
		"a clock that is set back is not believed":              {answers: []answer{{}}, jump: -month, least: -second},
		"answers within a second draw it closer": {
			answers: []answer{{ahead: half}, {ahead: half, took: 200 * time.Millisecond}}, least: -half},
	} {
		t.Run(sentence, func(t *testing.T) {
			own := testingclock.NewFakePassiveClock(begin)
			there := NewHostTime(own)
			var elapsed time.Duration
			there.elapsed = func() time.Duration { return elapsed }
			pass := func(d time.Duration) { elapsed += d; own.SetTime(own.Now().Add(d)) }
			host := begin
			for _, a := range test.answers {
				host = own.Now().Add(a.ahead)
				_, _ = there.Observe(roundTrip(func(*http.Request) (*http.Response, error) {
					response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Date": {host.UTC().Format(http.TimeFormat)}}}
					if a.status != 0 {
						response.StatusCode = a.status
					}
					if a.silent {
						response.Header = http.Header{}
					}
					pass(a.took)
					host = host.Add(a.took)
					return response, nil
				})).RoundTrip(nil) //nolint:bodyclose // there is none
			}
			pass(time.Hour)
			own.SetTime(own.Now().Add(test.jump))
			got, known := there.currentTime()
			if known == test.unknown {
				t.Fatalf("got a time that is known: %t, want %t", known, !test.unknown)
			}
			if off := got.Sub(host.Add(time.Hour)); known && (off < test.least || off > test.most) {
				t.Errorf("got %s, off by %s, want %s to %s", got, off, test.least, test.most)
			}
			if since := there.Since(got.Add(-time.Minute)); since != time.Minute {
				t.Errorf("got %s since a minute ago", since)
			}
		})
	}
}

func TestARequestThatFailsSaysNothingOfTheTime(t *testing.T) {
	there, refused := NewHostTime(testingclock.NewFakePassiveClock(time.Unix(1, 0))), errors.New("no route")
	_, err := there.Observe(roundTrip(func(*http.Request) (*http.Response, error) { return nil, refused })).RoundTrip(nil) //nolint:bodyclose // there is none
	if _, known := there.currentTime(); known || !errors.Is(err, refused) {
		t.Errorf("got a time that is known: %t, and error %v", known, err)
	}
}
