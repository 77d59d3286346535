// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// walk substitutes parameters in all strings of a tree.
type walk struct {
	known map[string]parameter
	// room is the remaining number of bytes for strings with parameters.
	room int
	// leaves reports whether strings at a place are not changed, because the kubelet or another
	// program expands them.
	leaves func(at []string) bool
	// named is true if the names of objects and variables are rendered, too.
	named bool
	at    []string
}

// all renders a tree at a part of the spec. Unless named is true, it does not change the names of
// objects.
func (w *walk) all(in string, tree map[string]any) *Error {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		value, wrong := w.value(key, tree[key])
		if wrong != nil {
			wrong.In = in + wrong.In
			return wrong
		}
		tree[key] = value
	}
	return nil
}

func (w *walk) value(key string, value any) (any, *Error) {
	w.at = append(w.at, key)
	defer func() { w.at = w.at[:len(w.at)-1] }()
	switch value := value.(type) {
	case string:
		return w.text(value)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			next, wrong := w.value(key, value[key])
			if wrong != nil {
				return nil, wrong
			}
			value[key] = next
		}
	case []any:
		for i := range value {
			next, wrong := w.value(strconv.Itoa(i), value[i])
			if wrong != nil {
				return nil, wrong
			}
			value[i] = next
		}
	}
	return value, nil
}

func (w *walk) text(text string) (string, *Error) {
	if !strings.Contains(text, "$(") || w.leaves(w.at) || !w.named && isName(w.at) {
		return text, nil
	}
	var misplaced string
	long := 0
	result := substitute(text, func(name string) bool {
		_, is := w.known[name]
		return is && long <= mostResult // stop soon after the limit; the result is rejected below
	}, func(name string) string {
		p := w.known[name]
		if why := p.misplaced(); why != "" {
			misplaced = why
		}
		long += len(p.text)
		return p.text
	})
	switch w.room -= len(result); {
	case misplaced != "":
		return "", errorf(pathOf(w.at), "", text, "%s", misplaced)
	case long > mostResult, len(result) > max(mostResult, len(text)):
		return "", errorf(pathOf(w.at), "", short(text), "has more than %d bytes after its parameters are replaced", mostResult)
	case w.room < 0:
		return "", errorf(pathOf(w.at), "", short(text), "exceeds the limit: all strings with parameters together can have at most %d bytes",
			mostText)
	}
	return result, nil
}

// short is the beginning of a text.
func short(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// isName reports whether a place is the name of the object itself, or of a variable.
func isName(at []string) bool {
	switch {
	case len(at) == 2 && at[0] == "metadata":
		return at[1] == "name" || at[1] == "generateName" || at[1] == "namespace"
	case len(at) == 6 && isContainer(at) && at[3] == "env":
		return at[5] == "name"
	default:
		return false
	}
}

// isContainer reports whether a place is in a container of a pod template.
func isContainer(at []string) bool {
	return len(at) > 3 && at[0] == "spec" && (at[1] == "containers" || at[1] == "initContainers")
}

// ofTheKubelet reports whether the kubelet expands variables at a place.
func ofTheKubelet(at []string) bool {
	if !isContainer(at) {
		return false
	}
	switch field := at[3]; len(at) {
	case 5:
		return field == "command" || field == "args"
	case 6:
		return field == "env" && at[5] == "value" || field == "volumeMounts" && at[5] == "subPathExpr"
	default:
		return false
	}
}

func noOne([]string) bool { return false }

// pathOf formats a place as a field path, with a leading dot.
func pathOf(at []string) string {
	var path strings.Builder
	for i, token := range at {
		_, notIndex := strconv.Atoi(token)
		switch {
		case notIndex == nil || i > 0 && hasKeys(at[i-1]) || strings.ContainsAny(token, "./"):
			fmt.Fprintf(&path, "[%s]", token)
		default:
			path.WriteString("." + token)
		}
	}
	return path.String()
}

// hasKeys reports whether a field is a map with arbitrary keys.
func hasKeys(field string) bool {
	return slices.Contains([]string{"labels", "annotations", "nodeSelector", "matchLabels", "volumeAttributes"}, field)
}

// String formats the pointer.
func (p pointer) String() string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var text strings.Builder
	for _, token := range p {
		text.WriteString("/" + escape.Replace(token))
	}
	return text.String()
}
