// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	tests := map[string]struct {
		lines      string
		wantErr    string
		wantRows   []row
		violations int
	}{
		"rows of one fault, side and place are added up": {
			lines: `{"fault":"crash","side":"ours","where":"real","runs":2,"violations":0,"detail":"a"}` + "\n" +
				`{"fault":"crash","side":"ours","where":"simulator","runs":9,"violations":0}` + "\n" +
				`{"fault":"crash","side":"ours","where":"real","runs":3,"violations":1,"detail":"b"}`,
			wantRows:   []row{{"crash", "ours", "real", 5, 1, "a; b"}, {"crash", "ours", "simulator", 9, 0, ""}},
			violations: 1,
		},
		"violations of the built-in are counted, not held against us": {
			lines:    `{"fault":"crash","side":"built-in","where":"real","runs":2,"violations":7}`,
			wantRows: []row{{"crash", "built-in", "real", 2, 7, ""}},
		},
		"missed bugs are counted, not held against us": {
			lines:    `{"fault":"seeded bugs","side":"-","where":"simulator","runs":50,"violations":1}`,
			wantRows: []row{{"seeded bugs", "-", "simulator", 50, 1, ""}},
		},
		"a file without rows is an error":  {lines: "", wantErr: "no suite has written a result"},
		"a row without runs is an error":   {lines: `{"fault":"crash","side":"ours"}`, wantErr: `fault "crash" with 0 runs`},
		"an unknown field is an error":     {lines: `{"fault":"crash","runs":1,"speed":3}`, wantErr: `unknown field "speed"`},
		"a line that is no JSON is named":  {lines: "crash 1 0", wantErr: "line 1 is not a row"},
		"a row without a fault is refused": {lines: `{"runs":1}`, wantErr: `fault "" with 1 runs`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rows, err := read(strings.NewReader(test.lines))
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("got error %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			if len(rows) != len(test.wantRows) {
				t.Fatalf("got rows %+v, want %+v", rows, test.wantRows)
			}
			for i := range rows {
				if rows[i] != test.wantRows[i] {
					t.Errorf("row %d: got %+v, want %+v", i, rows[i], test.wantRows[i])
				}
			}
			if got := violationsOfOurs(rows); got != test.violations {
				t.Errorf("our violations: got %d, want %d", got, test.violations)
			}
		})
	}
}

func TestRender(t *testing.T) {
	got := render([]row{{"crash", "ours", "real", 5, 0, "every write"}})
	want := "" +
		"| fault | where | side | runs | violations | detail      |\n" +
		"|---    |---    |---   |---   |---         |---          |\n" +
		"| crash | real  | ours | 5    | 0          | every write |\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
