// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"strings"
	"testing"

	"statefulset.dev/test/docs/page"
)

func TestMatch(t *testing.T) {
	for sentence, c := range map[string]struct {
		want, got string
		// fails is what the error says, empty if there is none.
		fails string
	}{
		"the same text": {want: "set db deleted", got: "set db deleted\n"},
		"ages and widths of columns": {
			want: "NAME  READY  AGE\nweb   3/3    21s",
			got:  "NAME   READY   AGE\nweb    3/3     3m2s   \n",
		},
		"an age that is none": {
			want: "web   3/3    21s", got: "web  3/3  soon", fails: `expected "web   3/3    21s", got "web  3/3  soon"`},
		"another number":            {want: "web   3/3    21s", got: "web  2/3  21s", fails: `got "web  2/3  21s"`},
		"times":                     {want: "since 2026-01-01T12:00:00Z", got: "since 2031-12-24T01:02:03Z"},
		"a time that is missing":    {want: "since 2026-01-01T12:00:00Z", got: "since yesterday", fails: `got "since yesterday"`},
		"addresses":                 {want: "at 10.0.0.1:8443 now", got: "at 192.168.17.3:6444 now"},
		"durations with a fraction": {want: "24h0m0s pass", got: "24h0m0.715745482s pass"},
		"nodes":                     {want: "web-0 Running node-1", got: "web-0 Running node-3"},
		"hashes of revisions":       {want: "at web-6dcb8f7d7c, not db-758cd5bb76", got: "at web-584f9fd9, not db-f66674974"},
		"one hash for two":          {want: "from db-6dcb8f7d7c to db-758cd5bb76", got: "from db-584f9fd9 to db-584f9fd9", fails: "got"},
		"two hashes for one":        {want: "from db-6dcb8f7d7c to db-6dcb8f7d7c", got: "from db-584f9fd9 to db-f66674974", fails: "got"},
		"a hash of another set":     {want: "at web-6dcb8f7d7c", got: "at db-6dcb8f7d7c", fails: "got"},
		"a hash alone":              {want: "web-0 6dcb8f7d7c old", got: "web-0  584f9fd9  old"},
		"an ordinal is no hash":     {want: "pod db-2 is ready", got: "pod db-1 is ready", fails: `got "pod db-1 is ready"`},
		"UIDs":                      {want: "a 5936c1af-316d-4220-8a7e-cc4f16a1c933", got: "a 904aa78a-5f8b-494e-b38c-acd2d4c71e17"},
		"text left out of a line":   {want: "Warning: ... of the set", got: "Warning: this is said of the set"},
		"lines left out":            {want: "first\n...\nlast", got: "first\nsecond\nthird\nlast"},
		"no lines left out":         {want: "first\n...\nlast", got: "first\nlast"},
		"lines left out, and then what is not there": {
			want: "first\n...\nlast", got: "first\nsecond", fails: `expected "last", but the output ends before it`,
		},
		"lines at the end left out": {want: "first\n...", got: "first\nsecond"},
		"too much":                  {want: "first", got: "first\nsecond", fails: `the output has more lines than expected, beginning with "second"`},
		"too little":                {want: "first\nsecond", got: "first", fails: `expected "second", but the output ends before it`},
		"nothing":                   {want: "first", got: "", fails: "first"},
		"signs that a pattern has":  {want: "a.b (c)* [d]", got: "aXb (c)* [d]", fails: "got"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := page.NewMatcher().Match(strings.Split(c.want, "\n"), c.got)
			if c.fails == "" && err != nil {
				t.Errorf("got %v, want the two to be the same:\n%s\n%s", err, c.want, c.got)
			}
			if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("got error %v, want one with %q", err, c.fails)
			}
		})
	}
}

func TestAHashIsTheSameThroughoutAPage(t *testing.T) {
	m := page.NewMatcher()
	if err := m.Match([]string{"at db-6dcb8f7d7c"}, "at db-584f9fd9"); err != nil {
		t.Fatal(err)
	}
	if err := m.Match([]string{"at db-6dcb8f7d7c"}, "at db-f66674974"); err == nil {
		t.Error("got no error, want one: the page has one hash, and there were two")
	}
	if err := m.Match([]string{"at db-758cd5bb76"}, "at db-584f9fd9"); err == nil {
		t.Error("got no error, want one: the page has two hashes, and there was one")
	}
	if err := m.Match([]string{"at db-758cd5bb76"}, "at db-f66674974"); err != nil {
		t.Errorf("got %v, want what failed before to be forgotten", err)
	}
}
