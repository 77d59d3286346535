//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// side is one way to play a row.
type side struct {
	name string
	// binary is the kubectl that is run, reference the side that ours is compared with.
	binary    string
	reference string
	// prefix stands between kubectl and a command.
	prefix []string
	// words replace the placeholders of a step.
	words map[string]string
	ours  bool
	// older is true where an older kubectl starts the plugin.
	older bool
}

// release is one kubectl of this machine.
type release struct{ version, binary string }

// releases returns the kubectl of the cluster, and that of the machine if there is an older one. With -test.short, that of
// the cluster is enough.
func releases(ctx context.Context, dir string) ([]release, error) {
	found, binaries := []release{}, []string{filepath.Join(dir, "kubectl"), "/usr/bin/kubectl"}
	if testing.Short() {
		binaries = binaries[:1]
	}
	for _, binary := range binaries {
		if _, err := os.Stat(binary); err != nil {
			fmt.Printf("skipped: there is no kubectl at %s\n", binary)
			continue
		}
		out, err := exec.CommandContext(ctx, binary, "version", "--client").Output()
		if err != nil {
			return nil, fmt.Errorf("asking %s for its version: %w", binary, err)
		}
		version := regexp.MustCompile(`v1\.\d+\.\d+`).FindString(string(out))
		if version == "" {
			return nil, fmt.Errorf("%s does not tell its version: %q", binary, out)
		}
		if len(found) > 0 && found[0].version == version {
			fmt.Printf("skipped: %s is %s too\n", binary, version)
			continue
		}
		found = append(found, release{version, binary})
	}
	return found, nil
}

// sides returns the built-in kind first. The plugin has the version of the first release in it, whichever runs it.
func sides(found []release) []side {
	const group = "apps.statefulset.dev"
	builtIn := words("statefulset", "statefulset", "apps", "")
	var all, ours []side
	for i, r := range found {
		reference := "apps/v1 " + r.version
		all = append(all, side{name: reference, binary: r.binary, words: builtIn})
		ours = append(ours,
			side{
				name: "plain " + r.version, binary: r.binary, reference: reference,
				words: words("statefulset.v1."+group, "sset", group, ""), ours: true,
			},
			side{
				name: "plugin " + r.version, binary: r.binary, reference: "apps/v1 " + found[0].version, prefix: []string{"sts"},
				words: words("statefulset", "statefulset", group, "sts"), ours: true, older: i > 0,
			})
	}
	return append(all, ours...)
}

func words(kind, short, group, plugin string) map[string]string {
	return map[string]string{
		"{set}": kind + "/db", "{kind}": kind, "{short}": short, "{group}": group, "{version}": group + "/v1", "{sts}": plugin,
		"{real}": "statefulsets.v1." + group,
	}
}

func (s side) plain() bool { return s.ours && len(s.prefix) == 0 }

// plays tells whether a row is played on a side. An older kubectl only starts the plugin, so that is tried where plain
// kubectl cannot do without it.
func (s side) plays(r row) bool {
	if !s.ours {
		return !r.Last
	}
	return s.plain() || !s.older || r.Plain == refused
}

// command returns the arguments of kubectl for the text of a step.
func (s side) command(text string, raw bool, namespace string) []string {
	var prefix []string
	if !raw {
		prefix = s.prefix
	}
	args := append([]string{}, prefix...)
	for _, word := range split(text) {
		if filled := s.fill(word, namespace); filled != "" {
			args = append(args, filled)
		}
	}
	return args
}

func (s side) fill(text, namespace string) string {
	for placeholder, value := range s.words {
		text = strings.ReplaceAll(text, placeholder, value)
	}
	return strings.ReplaceAll(text, "{namespace}", namespace)
}

// split cuts a command line at spaces, except inside single quotes.
func split(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
