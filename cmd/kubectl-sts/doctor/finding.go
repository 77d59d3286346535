// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
	"strings"

	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// verdict is the severity of a finding.
type verdict string

const (
	fine    verdict = "ok"
	doubt   verdict = "warn"
	broken  verdict = "FAIL"
	unknown verdict = "skip"
	noted   verdict = "info"
)

// finding is a result of a check.
type finding struct {
	verdict verdict
	// about is the part that was checked, and message is the result.
	about, message string
	// fix has the commands that show more or fix the problem.
	fix []string
}

func okFinding(about, format string, args ...any) finding {
	return finding{verdict: fine, about: about, message: fmt.Sprintf(format, args...)}
}

func warnFinding(about, says string, fix ...string) finding {
	return finding{verdict: doubt, about: about, message: says, fix: fix}
}

func failFinding(about, says string, fix ...string) finding {
	return finding{verdict: broken, about: about, message: says, fix: fix}
}

// infoFinding is for a property of this cluster that differs from other clusters and is not a
// problem.
func infoFinding(about, says string) finding {
	return finding{verdict: noted, about: about, message: says}
}

// skipFinding is for a part that could not be checked.
func skipFinding(about string, err error) finding {
	return finding{verdict: unknown, about: about, message: "cannot check: " + err.Error()}
}

// show prints a finding with its commands below it.
func (f finding) show(out io.Writer) {
	fmt.Fprintf(out, "%-4s  %s: %s\n", f.verdict, terminal.Line(f.about), terminal.Line(strings.TrimSpace(f.message)))
	for _, command := range f.fix {
		fmt.Fprintf(out, "        %s\n", terminal.Line(command))
	}
}

// summary returns the last line of the output: the number of findings of each verdict, except for
// info.
func summary(findings []finding) string {
	count := map[verdict]int{}
	for _, f := range findings {
		count[f.verdict]++
	}
	return fmt.Sprintf("%d ok, %d warnings, %d failures, %d not checked", count[fine], count[doubt], count[broken], count[unknown])
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
