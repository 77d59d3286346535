//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// inSharedWords returns what a step has printed without what differs between any two runs: the name of the kind's
// group, of the namespace, times, ages, versions and random names.
func inSharedWords(s step, output string, code int, namespace string) string {
	if s.Compare == "yaml" && code == 0 {
		output = inOrder(output)
	}
	output = strings.ReplaceAll(output, namespace, "<namespace>")
	output = strings.ReplaceAll(output, "apps.statefulset.dev", "apps")
	output = strings.ReplaceAll(output, "statefulset.v1.apps", "statefulset")
	output = strings.ReplaceAll(output, "kubectl sts", "kubectl")
	for _, r := range replacements() {
		output = r.pattern.ReplaceAllString(output, r.by)
	}
	output = chosen(s.Compare, output)
	if code != 0 {
		output += fmt.Sprintf("[exit %d]", code)
	}
	return output
}

type replacement struct {
	pattern *regexp.Regexp
	by      string
}

func replacements() []replacement {
	return []replacement{
		{regexp.MustCompile(`[EWI]\d{4} [\d:.]+ +\d+ (\w+\.go):\d+\]`), "<log $1>"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d{4})?`), "<time>"},
		{regexp.MustCompile(`\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`), "<time>"},
		{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
		{regexp.MustCompile(`(\bdb)-[0-9a-f]{6,10}\b`), "$1-<hash>"},
		{regexp.MustCompile(`resourceVersion: "\d+"`), "resourceVersion: <n>"},
		{regexp.MustCompile(`(debugger|LIVE|MERGED)-\w+`), "$1-<random>"},
		{regexp.MustCompile(`(?m)(\s)(\d+[ms]){1,2}(\s|$)`), "$1<age>$3"},
		{regexp.MustCompile(`\bnode-\d+`), "<node>"},
		{regexp.MustCompile(`(?m)(\S) {2,}`), "$1  "},
		{regexp.MustCompile(`(?m)[ \t]+$`), ""},
	}
}

// chosen returns the part of the output that is compared.
func chosen(compare, output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	switch compare {
	case "last":
		return lines[len(lines)-1] + "\n"
	case "distinct":
		return strings.Join(slices.Compact(lines), "\n") + "\n"
	case "sorted":
		slices.Sort(lines)
		return strings.Join(lines, "\n") + "\n"
	case "exit", "none":
		return ""
	}
	return output
}

// inOrder returns an object, printed as YAML or JSON, as YAML with sorted keys, without the fields of one run.
func inOrder(output string) string {
	var object map[string]any
	if err := yaml.Unmarshal([]byte(output), &object); err != nil {
		return output
	}
	objects := []any{object}
	if items, ok := object["items"].([]any); ok {
		objects = items
	}
	for _, o := range objects {
		if o, ok := o.(map[string]any); ok {
			if metadata, ok := o["metadata"].(map[string]any); ok {
				delete(metadata, "uid")
				delete(metadata, "resourceVersion")
				delete(metadata, "managedFields")
			}
		}
	}
	ordered, err := yaml.Marshal(object)
	if err != nil {
		return output
	}
	return string(ordered)
}
