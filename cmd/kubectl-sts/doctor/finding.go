// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
	"strings"

	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// verdict says how bad a finding is.
type verdict string

const (
	fine    verdict = "ok"
	doubt   verdict = "warn"
	broken  verdict = "FAIL"
	unknown verdict = "skip"
	noted   verdict = "info"
)

// finding is what a check has found.
type finding struct {
	verdict verdict
	// about is what was looked at, and says what was seen.
	about, says string
	// fix are the commands that show more or mend it.
	fix []string
}

func isFine(about, format string, args ...any) finding {
	return finding{verdict: fine, about: about, says: fmt.Sprintf(format, args...)}
}

func isDoubtful(about, says string, fix ...string) finding {
	return finding{verdict: doubt, about: about, says: says, fix: fix}
}

func isBroken(about, says string, fix ...string) finding {
	return finding{verdict: broken, about: about, says: says, fix: fix}
}

// isNoted is for what is as it should be on this cluster, and differs from others.
func isNoted(about, says string) finding { return finding{verdict: noted, about: about, says: says} }

// isUnknown is for what could not be looked at.
func isUnknown(about string, err error) finding {
	return finding{verdict: unknown, about: about, says: "cannot look: " + err.Error()}
}

// show prints a finding, and its commands below it.
func (f finding) show(out io.Writer) {
	fmt.Fprintf(out, "%-4s  %s: %s\n", f.verdict, terminal.Line(f.about), terminal.Line(strings.TrimSpace(f.says)))
	for _, command := range f.fix {
		fmt.Fprintf(out, "        %s\n", terminal.Line(command))
	}
}

// summary is the last line: how many findings there are of each kind that says how
// things are.
func summary(findings []finding) string {
	count := map[verdict]int{}
	for _, f := range findings {
		count[f.verdict]++
	}
	return fmt.Sprintf("%d ok, %d warnings, %d failures, %d not looked at", count[fine], count[doubt], count[broken], count[unknown])
}

func failures(findings []finding) int {
	n := 0
	for _, f := range findings {
		if f.verdict == broken {
			n++
		}
	}
	return n
}
