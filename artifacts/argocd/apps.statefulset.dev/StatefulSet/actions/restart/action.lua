-- Copyright The statefulset-apiserver Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Replaces every member, by the set's update strategy, as kubectl rollout restart does.
local os = require("os")
local template = obj.spec.template
if template.metadata == nil then
  template.metadata = {}
end
if template.metadata.annotations == nil then
  template.metadata.annotations = {}
end
template.metadata.annotations["kubectl.kubernetes.io/restartedAt"] = os.date("!%Y-%m-%dT%XZ")
return obj
