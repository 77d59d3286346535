// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestAPatternMatchesTheWholeText(t *testing.T) {
	for sentence, c := range map[string]struct {
		pattern, text string
		want          bool
	}{
		"itself":                            {"pod web-0", "pod web-0", true},
		"not a part of it":                  {"web-0", "pod web-0", false},
		"a star stands for anything":        {"pod *: *", "pod web-0: gone", true},
		"a star stands for nothing, too":    {"*", "", true},
		"a star goes beyond the line":       {"a*c", "a\nb\nc", true},
		"all else means itself":             {"web.", "web-", false},
		"what stands after a star counts":   {"*-1", "web-0", false},
		"what stands before a star counts":  {"db*", "web-0", false},
		"brackets and the like are letters": {"f(x)[0]", "f(x)[0]", true},
	} {
		if got := Pattern(c.pattern).MatchString(c.text); got != c.want {
			t.Errorf("%s: %q matches %q: got %t, want %t", sentence, c.pattern, c.text, got, c.want)
		}
	}
}

// failing is a test that is told to fail, and goes on.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = format
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			f.said += " " + text
		}
	}
	panic(f)
}

// said is what a test that runs do fails with, empty if it does not.
func said(t *testing.T, do func(testing.TB)) (text string) {
	t.Helper()
	f := &failing{TB: t}
	defer func() {
		text = f.said
		if stopped := recover(); stopped != nil && stopped != any(f) {
			panic(stopped)
		}
	}()
	do(f)
	return ""
}

func TestANumberIsWhatTheVariableSays(t *testing.T) {
	const variable = "HARNESS_NUMBER"
	for text, want := range map[string]int{"": 7, "1": 1, "500": 500} {
		t.Setenv(variable, text)
		if got := Number(t, variable, 7); got != want {
			t.Errorf("%s=%q: got %d, want %d", variable, text, got, want)
		}
	}
	for _, text := range []string{"0", "-1", "many", "1.5"} {
		t.Setenv(variable, text)
		if got := said(t, func(t testing.TB) { Number(t, variable, 7) }); !strings.Contains(got, variable) || !strings.Contains(got, text) {
			t.Errorf("%s=%q: the test fails with %q, want the variable and its value", variable, text, got)
		}
	}
}

func TestExplanationsAreReadAndChecked(t *testing.T) {
	type entry struct {
		Reason string `json:"reason"`
	}
	t.Chdir(t.TempDir())
	write := func(text string) {
		if err := os.WriteFile(explained, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(e entry) error {
		if e.Reason == "" {
			return errors.New("it needs a reason")
		}
		return nil
	}
	write("- reason: one\n- reason: two\n")
	if got := Explanations(t, check); len(got) != 2 || got[1].Reason != "two" {
		t.Errorf("got %v, want two entries", got)
	}
	for sentence, text := range map[string]string{
		"an entry that the check refuses": "- reason: \"\"\n",
		"a field that nobody knows":       "- reason: one\n  because: two\n",
	} {
		write(text)
		if got := said(t, func(t testing.TB) { Explanations(t, check) }); got == "" {
			t.Errorf("%s: the test does not fail", sentence)
		}
	}
}
