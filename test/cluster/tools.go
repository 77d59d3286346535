// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// nodeTools maps the tools that real nodes need on the machine to their Debian packages.
func nodeTools() map[string]string {
	return map[string]string{"ip": "iproute2", "runc": "runc", "iptables": "iptables", "conntrack": "conntrack"}
}

func lookForTool(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is missing: apt-get install %s", name, nodeTools()[name])
	}
	return path, nil
}

// canHaveNodes returns in one line why real nodes cannot run on this machine, nil if they can.
func canHaveNodes() error {
	const instead = "; fake nodes (--nodes=fake) work"
	if os.Geteuid() != 0 {
		return errors.New("real nodes need root: they consist of network namespaces and control groups" + instead)
	}
	var missing []string
	for tool := range nodeTools() {
		if _, err := lookForTool(tool); err != nil {
			missing = append(missing, err.Error())
		}
	}
	if len(missing) > 0 {
		return errors.New("real nodes need more tools: " + strings.Join(missing, ", ") + instead)
	}
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err != nil || !strings.Contains(string(filesystems), "\toverlay\n") {
		return errors.Join(errors.New("real nodes need overlayfs, which this kernel does not have"+instead), err)
	}
	if _, err := hierarchies(); err != nil {
		return fmt.Errorf("real nodes need control groups: %w%s", err, instead)
	}
	return nil
}
