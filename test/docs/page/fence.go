// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Use describes how a fence is used.
type Use struct {
	// Run is true if its commands are run.
	Run bool
	// Fresh is true if they start in their own namespace.
	Fresh bool
	// Alone is true if they run while no other page runs, because they disrupt the cluster.
	Alone bool
	// Nodes is true if they run on real nodes, on which the server runs as pods.
	Nodes bool
	// Installed is the installation with which they start there, one of installations, empty for
	// the state that earlier commands have left.
	Installed string
	// NotRun is why the commands are not run. It is empty for a fence without commands.
	NotRun string
	// File is the name of the file with the content of the fence, empty if commands get no such
	// file.
	File string
}

// installations returns what commands on real nodes may start with: nothing, one server, or three
// servers and a store of three members.
func installations() []string { return []string{"bare", "single", "ha"} }

// listings returns the languages of fences that are only read.
func listings() []string {
	return []string{"text", "mermaid", "yaml", "json", "go", "promql", "java", "python", "ts"}
}

// Use parses the text after the backticks. The error says what is expected.
func (f Fence) Use() (Use, error) {
	language, rest, _ := strings.Cut(f.Info, " ")
	rest = strings.TrimSpace(rest)
	if language != "console" {
		return f.listing(language, rest)
	}
	word, reason, _ := strings.Cut(rest, " ")
	switch {
	case rest == "" || rest == "fresh" || rest == "alone":
		_, err := f.Commands()
		return Use{Run: true, Fresh: rest == "fresh", Alone: rest == "alone"}, err
	case word == "nodes" && (reason == "" || slices.Contains(installations(), reason)):
		_, err := f.Commands()
		return Use{Run: true, Nodes: true, Installed: reason}, err
	case word == "nodes":
		return Use{}, fmt.Errorf("```%s: want nothing after nodes, or one of %s", f.Info, strings.Join(installations(), ", "))
	case word == "norun" && strings.TrimSpace(reason) != "":
		return Use{NotRun: strings.TrimSpace(reason)}, nil
	case word == "norun":
		return Use{}, fmt.Errorf("```%s does not say why: want ```console norun REASON", f.Info)
	}
	return Use{},
		fmt.Errorf("```%s: want ```console, ```console fresh, ```console alone, ```console nodes, or ```console norun REASON", f.Info)
}

func (f Fence) listing(language, name string) (Use, error) {
	if !slices.Contains(listings(), language) {
		return Use{}, fmt.Errorf("the fence is marked %q: want console for commands, or one of %s", f.Info, strings.Join(listings(), ", "))
	}
	if strings.ContainsAny(name, "/ ") {
		return Use{}, fmt.Errorf("```%s: want the name of one file after the language, or nothing", f.Info)
	}
	for _, line := range f.Lines {
		if strings.HasPrefix(line, "$ ") {
			return Use{}, fmt.Errorf("the fence is marked %q and has the command %q: want console", f.Info, line)
		}
	}
	return Use{File: name}, nil
}

// Command is one command of a fence.
type Command struct {
	// Line is its line in the page.
	Line int
	// Text is the input of bash.
	Text string
	// Want are the lines that it must print. If empty, it may print anything.
	Want []string
}

// Commands returns the commands of a fence: each begins with "$ ", continues after a backslash and
// in lines that begin with "> ", and ends with its output.
func (f Fence) Commands() ([]Command, error) {
	var all []Command
	for i, line := range f.Lines {
		number := f.Line + 1 + i
		switch {
		case strings.HasPrefix(line, "$ "):
			all = append(all, Command{Line: number, Text: strings.TrimPrefix(line, "$ ")})
		case len(all) == 0 && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("line %d, %q, is output before any command: a line with a command must begin with %q", number, line, "$ ")
		case len(all) == 0:
		case len(all[len(all)-1].Want) == 0 && strings.HasSuffix(all[len(all)-1].Text, `\`):
			all[len(all)-1].Text += "\n" + line
		case len(all[len(all)-1].Want) == 0 && (line == ">" || strings.HasPrefix(line, "> ")):
			all[len(all)-1].Text += "\n" + strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		default:
			last := &all[len(all)-1]
			last.Want = append(last.Want, line)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the fence has no command: want lines that begin with %q, or ```text", "$ ")
	}
	for i := range all {
		all[i].Want = withoutEnd(all[i].Want)
	}
	return all, nil
}

// withoutEnd removes empty lines at the end.
func withoutEnd(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// failed matches the beginning of the errors of kubectl and its plugin.
var failed = regexp.MustCompile(
	`^(error: |Error: |Error from server |The [A-Z]\w* "[^"]*" is invalid: |command terminated with exit code [1-9])`)

// Fails reports whether the page shows that the command fails.
func (c Command) Fails() bool {
	return slices.ContainsFunc(c.Want, func(line string) bool {
		return failed.MatchString(line)
	})
}

// assignment matches a command that only assigns the output of another command to a variable.
var assignment = regexp.MustCompile(`^([A-Z][A-Z_]*)=\$\((.*)\)$`)

// Assigns returns the variable to which the command assigns a value, empty if it only does
// something else.
func (c Command) Assigns() string {
	if assigned := assignment.FindStringSubmatch(c.Text); assigned != nil {
		return assigned[1]
	}
	return ""
}

// asking returns the verbs of kubectl and of its plugin that change nothing.
func asking() []string {
	return []string{"get", "describe", "events", "plan", "tree", "doctor", "version", "explain", "diff", "auth", "api-resources", "logs"}
}

// Repeatable reports whether the command changes nothing, so that it may be repeated until it
// prints the expected output: a reader types more slowly than the cluster reacts.
func (c Command) Repeatable() bool {
	text := c.Text
	if assigned := assignment.FindStringSubmatch(text); assigned != nil {
		text = assigned[2]
	}
	words := strings.Fields(text)
	if len(words) > 3 && words[1] == "-n" {
		words = slices.Delete(words, 1, 3)
	}
	if len(words) < 2 || words[0] != "kubectl" || strings.ContainsAny(text, ";&>") {
		return false
	}
	if words = words[1:]; words[0] == "sts" && len(words) > 1 {
		words = words[1:]
	}
	if words[0] == "rollout" && len(words) > 1 {
		return words[1] == "status" || words[1] == "history"
	}
	return slices.Contains(asking(), words[0])
}
