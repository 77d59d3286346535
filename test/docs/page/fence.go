// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Use is what becomes of a fence.
type Use struct {
	// Run says that its commands are run.
	Run bool
	// Fresh says that they begin in a namespace of their own.
	Fresh bool
	// Alone says that they are run when those of no other page are, because they take the cluster apart.
	Alone bool
	// Nodes says that they are run on real nodes, on which the server runs as pods.
	Nodes bool
	// Installed is what they begin with there, one of installations, empty for what the commands before have left.
	Installed string
	// NotRun is why commands are not run. It is empty for a fence that has none.
	NotRun string
	// File is the name under which the fence is there for commands, empty if it is not.
	File string
}

// installations are what commands on real nodes may begin with: nothing, one server, or three and a store of three.
func installations() []string { return []string{"bare", "single", "ha"} }

// listings are the languages of what is only read.
func listings() []string {
	return []string{"text", "mermaid", "yaml", "json", "go", "promql", "java", "python", "ts"}
}

// Use reads what stands behind the backticks. The error says what would be right.
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
	// Line is where in the page it is.
	Line int
	// Text is what bash is given.
	Text string
	// Want are the lines that it prints. Without any, it prints what it likes.
	Want []string
}

// Commands are those of a fence: each begins with "$ ", goes on after a backslash and in lines that begin with "> ", and ends with
// what it prints.
func (f Fence) Commands() ([]Command, error) {
	var all []Command
	for i, line := range f.Lines {
		number := f.Line + 1 + i
		switch {
		case strings.HasPrefix(line, "$ "):
			all = append(all, Command{Line: number, Text: strings.TrimPrefix(line, "$ ")})
		case len(all) == 0 && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("line %d, %q, is printed before a command: want lines with a command to begin with %q", number, line, "$ ")
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
		return nil, fmt.Errorf("there is no command: want lines that begin with %q, or ```text", "$ ")
	}
	for i := range all {
		all[i].Want = withoutEnd(all[i].Want)
	}
	return all, nil
}

// withoutEnd leaves out empty lines at the end.
func withoutEnd(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// failed is how kubectl and its plugin begin when they fail.
var failed = regexp.MustCompile(
	`^(error: |Error: |Error from server |The [A-Z]\w* "[^"]*" is invalid: |command terminated with exit code [1-9])`)

// Fails says that the page shows the command to fail.
func (c Command) Fails() bool {
	return slices.ContainsFunc(c.Want, func(line string) bool {
		return failed.MatchString(line)
	})
}

// assignment is a command that does nothing but give a variable what another prints.
var assignment = regexp.MustCompile(`^([A-Z][A-Z_]*)=\$\((.*)\)$`)

// Assigns is the variable to which the command gives a value, empty if it does nothing of the kind.
func (c Command) Assigns() string {
	if assigned := assignment.FindStringSubmatch(c.Text); assigned != nil {
		return assigned[1]
	}
	return ""
}

// asking are the verbs of kubectl and of its plugin that change nothing.
func asking() []string {
	return []string{"get", "describe", "events", "plan", "tree", "doctor", "version", "explain", "diff", "auth", "api-resources", "logs"}
}

// Repeatable says that the command changes nothing, so that it may be run again until it prints what it is to print: what a
// reader types takes longer than what the cluster does meanwhile.
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
