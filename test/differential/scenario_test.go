// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// scenario is one file of scenarios/: what it shows, and the commands that show it.
type scenario struct {
	name string
	// topic and behaviour are the comment that the file begins with: "# topic: behaviour".
	topic, behaviour string
	commands         []command
}

// command is one line of a scenario: words, and a YAML value that follows the word
// "with" or "has" on the same line, or indented on the next ones.
type command struct {
	line  int
	words []string
	value map[string]any
	// refused is true if the built-in StatefulSet refuses the command.
	refused bool
}

func (c command) String() string { return strings.Join(c.words, " ") }

func readScenarios(t *testing.T) []scenario {
	t.Helper()
	paths, err := filepath.Glob("scenarios/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("looking for scenarios: found %d, error %v", len(paths), err)
	}
	all := make([]scenario, 0, len(paths))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("reading a scenario: %v", err)
		}
		s, err := parseScenario(strings.TrimSuffix(filepath.Base(path), ".txt"), string(content))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, s)
	}
	return all
}

func parseScenario(name, content string) (scenario, error) {
	s := scenario{name: name}
	lines := strings.Split(content, "\n")
	var comment []string
	for len(lines) > len(comment) && strings.HasPrefix(lines[len(comment)], "# ") {
		comment = append(comment, strings.TrimPrefix(lines[len(comment)], "# "))
	}
	var ok bool
	if s.topic, s.behaviour, ok = strings.Cut(strings.Join(comment, " "), ": "); !ok {
		return s, fmt.Errorf("the file must begin with a comment of the form %q", "# topic: behaviour")
	}
	for at := len(comment); at < len(lines); {
		first := at
		for at++; at < len(lines) && strings.HasPrefix(lines[at], "  "); at++ {
		}
		if line := strings.TrimSpace(lines[first]); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c, err := parseCommand(lines[first], lines[first+1:at])
		if err != nil {
			return s, fmt.Errorf("line %d: %w", first+1, err)
		}
		c.line = first + 1
		s.commands = append(s.commands, c)
	}
	if len(s.commands) == 0 {
		return s, fmt.Errorf("there are no commands")
	}
	return s, nil
}

func parseCommand(line string, indented []string) (command, error) {
	var c command
	text, value := line, strings.Join(indented, "\n")
	for _, word := range []string{" with ", " has "} {
		if before, after, ok := strings.Cut(line, word); ok {
			text, value = before, after+"\n"+value
		}
	}
	c.words = strings.Fields(text)
	if c.words[0] == "refused" {
		c.refused, c.words = true, c.words[1:]
	}
	if strings.TrimSpace(value) == "" {
		return c, nil
	}
	if err := yaml.UnmarshalStrict([]byte(value), &c.value); err != nil {
		return c, fmt.Errorf("reading the value of %q: %w", c, err)
	}
	return c, nil
}
