// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// frame is the size of the tree, and the part of the members that it shows.
type frame struct {
	width int
	// height is the number of lines, zero for no limit.
	height int
	// top is the index of the first member shown.
	top int
}

// widest is the width of the tree if the width of the output is not known.
const widest = 160

// render draws a state. Every line fits into the frame, and so do all lines together.
func render(s state, f frame) string {
	lines := header(s, f.width)
	rows, unseen := s.members()
	lines = append(lines, body(rows, unseen, f, f.height-len(lines))...)
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], f.width, "…")
	}
	if f.height > 0 && len(lines) > f.height {
		lines = lines[:f.height]
	}
	return strings.Join(lines, "\n")
}

// header returns the lines about the set itself.
func header(s state, width int) []string {
	word, message, level := s.waitsFor()
	ready, updated, finished, wanted := s.progress()
	counts := fmt.Sprintf("%d of %d ready, %d at the update revision", ready, wanted, updated)
	lines := []string{
		bold(terminal.Line(s.set.Name)) + "  " + faint(v1.SchemeGroupVersion.String()+", namespace "+terminal.Line(s.set.Namespace)),
		bar(finished, wanted, max(10, width/2-10)) + "  " + counts,
	}
	for line := range strings.Lines(ansi.Wordwrap(terminal.Line(word+": "+message), width, "")) {
		lines = append(lines, colour(level, strings.TrimSuffix(line, "\n")))
	}
	if s.trouble != "" {
		lines = append(lines, colour(broken, "not up to date: "+terminal.Line(s.trouble)))
	}
	if actions := s.userActions(); len(actions) > 0 {
		lines = append(lines, branch("user actions", actions)...)
	}
	if due := s.reclaims(); len(due) > 0 {
		lines = append(lines, branch("claims of removed members", due)...)
	}
	if objects := s.objects(); len(objects) > 0 {
		lines = append(lines, branch("objects", objects)...)
	}
	return append(lines, branch("revisions", s.history())...)
}

// branch returns the lines of a title and of the entries below it.
func branch(title string, below []string) []string {
	lines := []string{"├─ " + title}
	for i, line := range below {
		twig := "│  ├─ "
		if i == len(below)-1 {
			twig = "│  └─ "
		}
		lines = append(lines, twig+terminal.Line(line))
	}
	return lines
}

// body returns the lines of the members. If not all of them fit, the first line says which members
// are shown.
func body(rows []member, unseen int, f frame, room int) []string {
	title := "└─ members"
	room -= 2 + boolToInt(unseen > 0)
	from, to := 0, len(rows)
	if f.height > 0 && room < len(rows) {
		from = min(max(f.top, 0), max(len(rows)-max(room, 0), 0))
		to = min(from+max(room, 0), len(rows))
		title += faint(fmt.Sprintf("  %d to %d of %d; up, down, page up, page down, home and end scroll", from+1, to, len(rows)+unseen))
	}
	if len(rows) == 0 {
		return []string{title + faint("  none")}
	}
	widths := columns(rows)
	lines := []string{title, "      " + faint(widths.line(headings()))}
	for i := from; i < to; i++ {
		branch := "   ├─ "
		if i == len(rows)-1 {
			branch = "   └─ "
		}
		lines = append(lines, branch+colour(rows[i].health, widths.line(rows[i])))
	}
	if unseen > 0 && to == len(rows) {
		lines = append(lines, faint(fmt.Sprintf("      and %d more without a pod", unseen)))
	}
	return lines
}

func headings() member {
	return member{name: "POD", phase: "PHASE", readiness: "READINESS", revision: "REVISION", claims: "CLAIMS", node: "NODE"}
}

// columnWidths has the widths of a member's columns, except for the last one.
type columnWidths [5]int

func (m member) cells() [6]string {
	cells := [6]string{m.name, m.phase, m.readiness, m.revision, m.node, m.claims}
	for i := range cells {
		cells[i] = terminal.Line(cells[i])
	}
	return cells
}

func columns(rows []member) columnWidths {
	var widths columnWidths
	for i := range widths {
		widths[i] = ansi.StringWidth(headings().cells()[i])
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row.cells()[i]))
		}
	}
	return widths
}

func (w columnWidths) line(row member) string {
	var text strings.Builder
	cells := row.cells()
	for i, width := range w {
		text.WriteString(cells[i] + strings.Repeat(" ", width-ansi.StringWidth(cells[i])+2))
	}
	return strings.TrimRight(text.String()+cells[len(w)], " ")
}

// bar draws a part of a whole as a bar.
func bar(part, whole, width int) string {
	full := width
	if whole > 0 {
		full = width * min(part, whole) / whole
	}
	level := busy
	if part >= whole {
		level = fine
	}
	return colour(level, strings.Repeat("█", full)) + faint(strings.Repeat("░", width-full))
}

func bold(text string) string  { return lipgloss.NewStyle().Bold(true).Render(text) }
func faint(text string) string { return lipgloss.NewStyle().Faint(true).Render(text) }

// colour colours a text green, yellow or red. The writer removes colours that the output does not
// support.
func colour(level health, text string) string {
	colours := map[health]string{fine: "2", busy: "3", broken: "1"}
	return lipgloss.NewStyle().Foreground(lipgloss.Color(colours[level])).Render(text)
}
