// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// lonely runs a command in a network of its own that has a loopback and leads nowhere.
const lonely = `ip link set lo up && exec "$0" "$@"`

func TestTheServerStartsOnAMachineWithoutADefaultRoute(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "unshare", "--net", "ip", "link", "set", "lo", "up").Run(); err != nil {
		t.Skipf("this needs root, unshare and ip to make a network namespace: %v", err)
	}
	for sentence, address := range map[string]string{
		"bound to one address":   "127.0.0.1",
		"bound to all addresses": "0.0.0.0",
	} {
		t.Run(sentence, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "-c", lonely, os.Args[0], "--bind-address="+address)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), asCommand+"=1")
			out, _ := cmd.CombinedOutput()
			// It has come to what it looks for after the port.
			if last := lastLine(string(out)); !strings.Contains(last, "no host cluster") {
				t.Errorf("last line: got %q, want that there is no host cluster", last)
			}
		})
	}
}
