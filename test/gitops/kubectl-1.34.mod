// kubectl 1.34 and 1.35 have this kustomize in them. hack/test-gitops.sh runs the tests of kustomize with it, too.
