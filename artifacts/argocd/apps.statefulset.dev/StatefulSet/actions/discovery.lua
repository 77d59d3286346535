-- Copyright The statefulset-apiserver Authors.
-- SPDX-License-Identifier: Apache-2.0

-- The actions that Argo CD offers for a StatefulSet of apps.statefulset.dev.
return { ["restart"] = {} }
