// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
)

// Set by the linker; see the Makefile. Empty in a plain go build.
var version, commit, date string //nolint:gochecknoglobals // -ldflags -X sets nothing else

// Info describes a build. Unknown fields are empty.
type Info struct {
	// Version is the tag, or the last tag, the number of commits since, and the commit. The suffix
	// "-dirty" means that the work tree had uncommitted changes.
	Version string
	// Commit is the full hash.
	Commit string
	// Date is the date of the commit, in UTC and RFC 3339. It is not the time of the build, because
	// then builds would not be reproducible.
	Date string
}

// Get returns the running build.
func Get() Info {
	if version != "" {
		return Info{Version: version, Commit: commit, Date: date}
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{}
	}
	return fromBuild(build)
}

// fromBuild returns what the go command has recorded: the commit of a work tree, or the version of
// a module from a proxy.
func fromBuild(build *debug.BuildInfo) Info {
	info := Info{}
	if build.Main.Version != "(devel)" {
		info.Version = build.Main.Version
	}
	dirty := ""
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	if info.Version == "" && info.Commit != "" {
		info.Version = info.Commit[:min(len(info.Commit), 12)] + dirty
	}
	return info
}

// String returns the version, or "unknown".
func (i Info) String() string { return cmp.Or(i.Version, "unknown") }

// Text returns the lines that a program prints about its version.
func (i Info) Text(program string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n", program, i)
	fmt.Fprintf(&text, "  commit      %s\n", cmp.Or(i.Commit, "unknown"))
	fmt.Fprintf(&text, "  date        %s\n", cmp.Or(i.Date, "unknown"))
	fmt.Fprintf(&text, "  Kubernetes  %s\n", HostRange())
	return text.String()
}
