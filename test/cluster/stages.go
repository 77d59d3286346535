// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	kwokModule = "sigs.k8s.io/kwok"
	stagesFile = "stages.yaml"
)

// stageFiles returns the stages of KWOK that make nodes ready, run and end pods, and bind claims,
// below kustomize/stage in its module.
func stageFiles() []string {
	return []string{
		"node/fast/node-initialize.yaml",
		"node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
		"pod/fast/pod-ready.yaml",
		"pod/fast/pod-complete.yaml",
		"pod/fast/pod-delete.yaml",
		"volume/fast/pvc-provision.yaml",
		"volume/fast/pvc-delete.yaml",
		"volume/fast/pv-bind.yaml",
		"volume/fast/pv-delete.yaml",
	}
}

const (
	fakeClass          = "kwok-volume"
	exampleClass       = "my-storage-class"
	oneStorageClass    = "self.spec.storageClassName == '" + fakeClass + "'"
	storageStagePrefix = "volume/"
)

// fakeClasses returns the storage classes whose volumes have no storage. With real nodes, the class
// in the examples of the documentation uses directories.
func (l layout) fakeClasses() []string {
	if l.net == nil {
		return []string{fakeClass, exampleClass}
	}
	return []string{fakeClass}
}

// writeStages joins the stages of the pinned KWOK module into one file, and makes the storage
// stages match the given classes.
func writeStages(ctx context.Context, modulesDir, path string, classes []string) error {
	source, err := pinnedSource(ctx, modulesDir, "kwok", kwokModule)
	if err != nil {
		return err
	}
	var stages []string
	for _, name := range stageFiles() {
		raw, err := os.ReadFile(filepath.Join(source, "kustomize", "stage", filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("reading KWOK's stage: %w", err)
		}
		stage := string(raw)
		if strings.HasPrefix(name, storageStagePrefix) {
			if stage, err = widenStorage(name, stage, classes); err != nil {
				return err
			}
		}
		stages = append(stages, stage)
	}
	if err := writeFile(path, []byte(strings.Join(stages, "\n---\n"))); err != nil {
		return fmt.Errorf("writing KWOK's stages: %w", err)
	}
	return nil
}

func widenStorage(name, stage string, classes []string) (string, error) {
	if !strings.Contains(stage, oneStorageClass) {
		return "", fmt.Errorf("KWOK's stage %s no longer selects %q: adapt this program to this version of KWOK", name, oneStorageClass)
	}
	wanted := "self.spec.storageClassName in ['" + strings.Join(classes, "', '") + "']"
	return strings.ReplaceAll(stage, oneStorageClass, wanted), nil
}
