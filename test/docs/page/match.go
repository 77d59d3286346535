// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// Matcher compares the output of commands with a page. Values that differ between runs may differ:
// ages and durations, times, addresses, nodes; also hashes and UIDs, but each of them must have the
// same counterpart throughout the page. A line of "..." matches any number of lines, "..." in a
// line any text, and one space any number of spaces.
type Matcher struct {
	// seen maps the hashes and UIDs of the page to those of the cluster, and vice versa.
	seen map[string]string
}

// NewMatcher returns a Matcher for one page.
func NewMatcher() *Matcher { return &Matcher{seen: map[string]string{}} }

// Match compares. The error names the first line of the page that was not printed.
func (m *Matcher) Match(want []string, got string) error {
	lines := withoutEnd(strings.Split(got, "\n"))
	patterns := make([]pattern, len(want))
	for i, line := range want {
		patterns[i] = newPattern(line)
	}
	s := search{want: patterns, got: lines}
	seen, ok := s.from(0, 0, m.seen)
	if !ok {
		return s.failure(want)
	}
	m.seen = seen
	return nil
}

// search tries the possible matches of "...".
type search struct {
	want []pattern
	got  []string
	// furthest is the first line of the page that was never found, and at the last line with which
	// it was compared.
	furthest, at int
}

func (s *search) from(i, j int, seen map[string]string) (map[string]string, bool) {
	if i > s.furthest || i == s.furthest && j > s.at {
		s.furthest, s.at = i, j
	}
	if i == len(s.want) {
		return seen, j == len(s.got)
	}
	if s.want[i].lines {
		for k := j; k <= len(s.got); k++ {
			if found, ok := s.from(i+1, k, seen); ok {
				return found, true
			}
		}
		return nil, false
	}
	if j == len(s.got) {
		return nil, false
	}
	after, ok := s.want[i].match(s.got[j], seen)
	if !ok {
		return nil, false
	}
	return s.from(i+1, j+1, after)
}

func (s *search) failure(want []string) error {
	switch {
	case s.furthest == len(want) && s.at < len(s.got):
		return fmt.Errorf("the output has more lines than expected, beginning with %q", s.got[s.at])
	case s.furthest == len(want):
		return errors.New("the output has more lines than expected")
	case s.at < len(s.got):
		return fmt.Errorf("expected %q, got %q", want[s.furthest], s.got[s.at])
	}
	return fmt.Errorf("expected %q, but the output ends before it", want[s.furthest])
}

// pattern is one line of a page.
type pattern struct {
	lines bool
	re    *regexp.Regexp
	// bound are the texts in the page that correspond to the groups of re.
	bound []string
}

// volatile finds, in this order: UIDs, times, addresses, hashes of revisions after a name and
// alone, ages, omitted text, and the nodes of the local cluster.
var volatile = regexp.MustCompile(`(` + uid + `)|(` + moment + `)|(` + address + `)|(-` + hash + `\b)|(\b` + hash + `\b)|(\b` + age +
	`\b)|(\.\.\.)|(` + node + `)|(\s+)`)

const (
	uid     = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
	moment  = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`
	address = `\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d+)?\b`
	hash    = `[bcdfghjklmnpqrstvwxz2456789]{8,10}`
	age     = `\d+(?:\.\d+)?(?:ms|[smhdy])(?:\d+(?:\.\d+)?(?:ms|[smhd]))*`
	node    = `\bnode-\d+\b`
)

func newPattern(line string) pattern {
	line = strings.TrimRight(line, " ")
	if strings.TrimSpace(line) == "..." {
		return pattern{lines: true}
	}
	var p pattern
	var text strings.Builder
	end := 0
	for _, at := range volatile.FindAllStringSubmatchIndex(line, -1) {
		text.WriteString(regexp.QuoteMeta(line[end:at[0]]))
		end = at[1]
		found := line[at[0]:at[1]]
		switch group(at) {
		case 1:
			text.WriteString("(" + uid + ")")
			p.bound = append(p.bound, found)
		case 2:
			text.WriteString(moment)
		case 3:
			text.WriteString(address)
		case 4:
			text.WriteString("-(" + hash + ")")
			p.bound = append(p.bound, found[1:])
		case 5:
			if !strings.ContainsAny(found, "2456789") {
				text.WriteString(regexp.QuoteMeta(found)) // a word
				break
			}
			text.WriteString("(" + hash + ")")
			p.bound = append(p.bound, found)
		case 6:
			text.WriteString(age)
		case 7:
			text.WriteString(".*")
		case 8:
			text.WriteString(node)
		default:
			text.WriteString(`\s+`)
		}
	}
	text.WriteString(regexp.QuoteMeta(line[end:]))
	p.re = regexp.MustCompile("^" + text.String() + `\s*$`)
	return p
}

// group returns the number of the alternative of volatile that matched.
func group(at []int) int {
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 {
			return i / 2
		}
	}
	return 0
}

// match compares a line, and returns the known hashes afterwards.
func (p pattern) match(line string, seen map[string]string) (map[string]string, bool) {
	found := p.re.FindStringSubmatch(line)
	if found == nil {
		return nil, false
	}
	after := seen
	for i, shown := range p.bound {
		there, here := "page "+shown, "cluster "+found[i+1]
		known, knownThere := after[there]
		back, knownHere := after[here]
		if knownThere && known != here || knownHere && back != there {
			return nil, false
		}
		if !knownThere {
			after = maps.Clone(after)
			after[there], after[here] = here, there
		}
	}
	return after, true
}
