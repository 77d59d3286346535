package main

import (
	_ "github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	_ "github.com/fluxcd/pkg/ssa"
	_ "helm.sh/helm/v4/pkg/kube"
	_ "sigs.k8s.io/kustomize/api/krusty"
)

func main() {}
