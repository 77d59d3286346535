# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

from statefulset_client.errors import RefusedLocally

# The ways in which a set can be patched, and their media types.
PATCH_KINDS = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


def media_type(kind, body, field_manager, force):
    """Refuses a patch that cannot work, and returns its media type."""
    if kind not in PATCH_KINDS:
        raise RefusedLocally("patch kind %r: want one of %s" % (kind, ", ".join(PATCH_KINDS)))
    if (kind == "json") != isinstance(body, list) or isinstance(body, (str, bytes)) or body is None:
        raise RefusedLocally("patch kind %s: want %s" % (kind, "a list of operations" if kind == "json" else "an object"))
    if kind == "apply" and not field_manager:
        raise RefusedLocally("patch kind apply: want a field manager")
    if kind != "apply" and force:
        raise RefusedLocally("patch kind %s: only apply can be forced" % kind)
    return PATCH_KINDS[kind]
