// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const module = "statefulset.dev/"

// pkg is one package of the root module, without its tests. Paths of ours are relative to the module.
type pkg struct {
	path     string
	standard []string
	foreign  []string
	// direct are our packages that it imports itself, ours all that it depends on at any distance.
	direct, ours []string
	all          map[string]pkg
}

// via returns those of p's own imports through which it reaches used.
func (p pkg) via(used string) []string {
	var through []string
	for _, d := range p.direct {
		if d == used {
			return []string{d}
		}
		for _, deeper := range p.all[d].ours {
			if deeper == used {
				through = append(through, d)
			}
		}
	}
	return through
}

func listPackages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,Deps", module+"...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]pkg{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var listed struct {
			ImportPath    string
			Imports, Deps []string
		}
		err := decoder.Decode(&listed)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("decoding the output of go list: %v", err)
		}
		p := pkg{path: strings.TrimPrefix(listed.ImportPath, module), ours: ours(listed.Deps), direct: ours(listed.Imports), all: packages}
		for _, imported := range listed.Imports {
			switch first, _, _ := strings.Cut(imported, "/"); {
			case strings.HasPrefix(imported, module):
			case strings.Contains(first, "."):
				p.foreign = append(p.foreign, imported)
			default:
				p.standard = append(p.standard, imported)
			}
		}
		packages[p.path] = p
	}
}

func ours(paths []string) []string {
	var own []string
	for _, path := range paths {
		if relative, ok := strings.CutPrefix(path, module); ok {
			own = append(own, relative)
		}
	}
	return own
}
