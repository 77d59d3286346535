// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"testing"

	"statefulset.dev/test/docs/page"
)

// counted says how much of the documentation is run.
func counted(all []page.Page) string {
	var run, commands, marked, read int
	for _, p := range all {
		for _, fence := range p.Fences {
			switch use, err := fence.Use(); {
			case err != nil:
			case use.Run:
				run++
				if found, err := fence.Commands(); err == nil {
					commands += len(found)
				}
			case use.NotRun != "":
				marked++
			default:
				read++
			}
		}
	}
	return fmt.Sprintf("%d fences with %d commands are run, %d are marked as not run, %d have no commands", run, commands, marked, read)
}

func TestCounted(t *testing.T) {
	p := page.Page{Fences: []page.Fence{
		{Info: "console", Lines: []string{"$ true", "$ true"}}, {Info: "console norun it takes long", Lines: []string{"$ true"}}, {Info: "text"},
		{Info: "sh"},
	}}
	if got, want := counted([]page.Page{p}), "1 fences with 2 commands are run, 1 are marked as not run, 1 have no commands"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
