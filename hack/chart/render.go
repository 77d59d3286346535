// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

// render returns the manifests that Helm would apply, by the path of the template below templates/,
// without templates that are empty with these values.
func render(chart string, values map[string]any) (map[string]string, error) {
	loaded, err := loader.LoadDir(chart)
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w", err)
	}
	given, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{
		Name: "statefulset-apiserver", Namespace: "statefulset-system", Revision: 1, IsInstall: true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("checking the values: %w", err)
	}
	rendered, err := engine.Render(loaded, given)
	if err != nil {
		return nil, fmt.Errorf("rendering the chart: %w", err)
	}
	files := map[string]string{}
	for path, text := range rendered {
		_, name, _ := strings.Cut(path, "/templates/")
		if text = strings.TrimSpace(text); text != "" && strings.HasSuffix(name, ".yaml") && !strings.HasPrefix(name, "hooks/") {
			files[name] = text + "\n"
		}
	}
	return files, nil
}
