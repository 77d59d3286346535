-- Copyright The statefulset-apiserver Authors.
-- SPDX-License-Identifier: Apache-2.0

-- What Argo CD shows as the health of a StatefulSet of apps.statefulset.dev. Nothing but the conditions counts: the server
-- puts Ready=Unknown on a new set, so that there is no moment in which an unseen set looks healthy.
local health = { status = "Progressing", message = "Waiting for the controller to look at the set" }

if obj.status == nil or obj.status.conditions == nil then
  return health
end

local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end

local ready = conditions["Ready"]
if ready == nil then
  return health
end
health.message = ready.message

if ready.reason == "Held" then
  health.status = "Suspended"
  return health
end
if obj.status.observedGeneration == nil or obj.status.observedGeneration < obj.metadata.generation then
  health.message = "Waiting for the controller to look at the new spec"
  return health
end

local stalled = conditions["Stalled"]
if stalled ~= nil and stalled.status == "True" then
  health.status = "Degraded"
  health.message = stalled.message
elseif ready.status == "True" then
  health.status = "Healthy"
elseif ready.reason == "Paused" or ready.reason == "WaitingForPromotion" then
  health.status = "Suspended" -- until a person goes on
end
return health
