// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
)

// writeKubeconfig writes a kubeconfig with inline certificates, so that it can be copied elsewhere
// on the machine. The pair is read from base.crt and base.key. JSON is valid YAML.
func writeKubeconfig(path, server, caFile, base string) error {
	ca, err := readBase64(caFile)
	if err != nil {
		return err
	}
	cert, err := readBase64(base + ".crt")
	if err != nil {
		return err
	}
	key, err := readBase64(base + ".key")
	if err != nil {
		return err
	}
	const name = "local"
	config := map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": name,
		"clusters":        []any{map[string]any{"name": name, "cluster": map[string]any{"server": server, "certificate-authority-data": ca}}},
		"users":           []any{map[string]any{"name": name, "user": map[string]any{"client-certificate-data": cert, "client-key-data": key}}},
		"contexts":        []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": name}}},
	}
	raw, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding kubeconfig: %w", err)
	}
	if err := writeFile(path, append(raw, '\n')); err != nil {
		return fmt.Errorf("writing kubeconfig: %w", err)
	}
	return nil
}

func readBase64(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading certificates for a kubeconfig: %w", err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}
