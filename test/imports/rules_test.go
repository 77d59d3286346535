// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package imports_test holds the source tree to the rules of docs/architecture.md.
package imports_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rule says what one part of the tree may depend on. Paths are below the module; a path covers the packages below it.
type rule struct {
	part string
	// but is what of it has a rule of its own, empty if nothing has.
	but string
	// mayUse is all that part may use of ours, at any distance. Nil means that only mustNotUse counts.
	mayUse []string
	// mustNotUse is what part may not use of ours, at any distance.
	mustNotUse []string
	// foreign is what part may import itself from other modules. Nil allows all.
	foreign []string
	// notStandard is what part may not import itself from the standard library.
	notStandard []string
}

var nothing = []string{}

func rules() map[string]rule {
	return map[string]rule{
		"api imports nothing of ours":      {part: "api", mayUse: nothing},
		"identity is built on api alone":   {part: "identity", mayUse: []string{"api"}},
		"openapi is built on api alone":    {part: "openapi", mayUse: []string{"api"}},
		"client is built on api alone":     {part: "client", mayUse: []string{"api"}},
		"version is told, and asks nobody": {part: "version", mayUse: nothing, foreign: nothing},
		"window knows answers alone":       {part: "window", mayUse: nothing, foreign: []string{"k8s.io/apimachinery"}},
		"controller never serves":          {part: "controller", mustNotUse: []string{"registry", "apiserver", "cmd"}},
		"registry knows neither clients nor its callers": {
			part:       "registry",
			mustNotUse: []string{"controller", "client", "apiserver", "cmd"},
		},
		"apiserver gets the controller as a func": {part: "apiserver", mustNotUse: []string{"controller", "cmd"}},
		"outcomes are judged by the API alone": {
			part:    "test/outcome",
			mayUse:  []string{"api"},
			foreign: []string{"k8s.io/api", "k8s.io/apimachinery"},
		},
		"programs are built without the tests": {
			part: "cmd", mustNotUse: []string{"test", "apiserver/servertest", "registry/statefulset/settest"}},
		"store imports neither its callers nor the registry": {
			part:       "store",
			mustNotUse: []string{"apiserver", "registry", "controller", "cmd"},
		},
		"the plugin is a client": {
			part:       "cmd/kubectl-sts",
			mustNotUse: []string{"registry", "apiserver", "store", "controller", "cmd/statefulset-apiserver"},
		},
		"identity touches no client, clock, context or logger": {
			part: "identity", but: "identity/render",
			foreign:     []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/utils/ptr"},
			notStandard: effects(),
		},
		"rendering evaluates expressions besides, until a context ends, and compiles each once": {
			part:        "identity/render",
			foreign:     []string{"k8s.io/api", "k8s.io/apimachinery", "github.com/google/cel-go"},
			notStandard: slices.DeleteFunc(effects(), func(path string) bool { return path == "sync" || path == "context" }),
		},
		"supporting objects are watched in a room of their own": {
			part:   "controller/objects",
			mayUse: []string{"api", "identity", "controller/plan", "controller/hostread"},
		},
		"how the host is read depends on nothing of ours": {part: "controller/hostread", mayUse: nothing},
		"the plan is pure: api, identity and data types, but no client, clock, context or logger": {
			part:        "controller/plan",
			mayUse:      []string{"api", "identity"},
			foreign:     []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/utils/ptr"},
			notStandard: effects(),
		},
	}
}

// effects are the packages through which a decision could depend on more than its input, or do more than return.
func effects() []string {
	return []string{"context", "io", "log", "math/rand", "net", "os", "sync", "syscall"}
}

func TestImportRules(t *testing.T) {
	packages := listPackages(t)
	for sentence, r := range rules() {
		t.Run(sentence, func(t *testing.T) {
			covered := 0
			for _, p := range packages {
				if covers(r.part, p.path) && (r.but == "" || !covers(r.but, p.path)) {
					r.check(t, p)
					covered++
				}
			}
			if covered == 0 {
				t.Errorf("there is no package %s: the rule holds nothing, correct its path", r.part)
			}
		})
	}
}

func (r rule) check(t *testing.T, p pkg) {
	t.Helper()
	for _, used := range p.ours {
		if covers(r.part, used) {
			continue
		}
		if coveredBy(r.mustNotUse, used) || r.mayUse != nil && !coveredBy(r.mayUse, used) {
			t.Errorf("%s uses %s, through %s", p.path, used, strings.Join(p.via(used), " and "))
		}
	}
	for _, imported := range p.foreign {
		if r.foreign != nil && !coveredBy(r.foreign, imported) {
			t.Errorf("%s imports %s, want only %s", p.path, imported, strings.Join(r.foreign, ", "))
		}
	}
	for _, imported := range p.standard {
		if coveredBy(r.notStandard, imported) {
			t.Errorf("%s imports %s", p.path, imported)
		}
	}
}

// A room of the server is given what it needs, so that it can be read, built and tested alone.
func TestRoomsOfTheServerDoNotKnowIt(t *testing.T) {
	rooms := 0
	for _, p := range listPackages(t) {
		if !strings.HasPrefix(p.path, "apiserver/") || p.path == "apiserver/servertest" {
			continue
		}
		rooms++
		if slices.Contains(p.ours, "apiserver") {
			t.Errorf("%s uses apiserver, through %s", p.path, strings.Join(p.via("apiserver"), " and "))
		}
	}
	if rooms == 0 {
		t.Error("there is no package below apiserver: the rule holds nothing, correct its path")
	}
}

// mostFiles is how many Go files the server may have outside of its rooms.
const mostFiles = 20

func TestTheServerIsARoomOfFewFiles(t *testing.T) {
	files := 0
	eachGoFile(t, func(path string, _ []byte) {
		if filepath.Dir(path) == "apiserver" {
			files++
		}
	})
	if files == 0 || files > mostFiles {
		t.Errorf("Go files in apiserver: got %d, want some and at most %d: find or make a room below it", files, mostFiles)
	}
}

// The directory of the store has rooms, and no code of its own.
func TestTheStoreHasNoFilesOutsideOfItsRooms(t *testing.T) {
	var files []string
	eachGoFile(t, func(path string, _ []byte) {
		if filepath.Dir(path) == "store" {
			files = append(files, path)
		}
	})
	if !slices.Equal(files, []string{"store/doc.go"}) {
		t.Errorf("Go files in store: got %q, want doc.go alone: find or make a room below it", files)
	}
}

func TestPackageNamesSayWhatIsInside(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, banned := range []string{"util", "utils", "common", "helper", "helpers", "pkg"} {
			if slices.Contains(strings.Split(p.path, "/"), banned) {
				t.Errorf("package %s: %q says nothing about what is inside, name it after its subject", p.path, banned)
			}
		}
	}
}

func covers(part, path string) bool { return path == part || strings.HasPrefix(path, part+"/") }

func coveredBy(parts []string, path string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return covers(part, path) })
}
