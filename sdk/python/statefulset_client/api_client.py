# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

import datetime
import json
import re

import kubernetes.client.models
from dateutil.parser import isoparse
from kubernetes import client
from kubernetes.client.exceptions import ApiException

import statefulset_client.models
from statefulset_client.errors import error_of_exception

NATIVE = {"int": int, "float": float, "str": str, "bool": bool}
GENERIC = re.compile(r"(list)\[(.*)\]|(dict)\(str, (.*)\)")


class ApiClient(client.ApiClient):
    """The ApiClient of the package kubernetes, which knows the models of this one too, keeps fields and values that
    neither knows, and raises the errors of this package."""

    def __init__(self, configuration=None):
        super().__init__(configuration)
        # What is read was valid for the server, whatever this version of the models says.
        self.lenient = client.Configuration()
        self.lenient.client_side_validation = False

    def request(self, *args, **kwargs):
        try:
            return super().request(*args, **kwargs)
        except ApiException as exception:
            if not exception.status:
                raise
            raise error_of_exception(exception) from None

    def deserialize(self, response, response_type):
        return self.decode(json.loads(response.data), response_type)

    def decode(self, data, kind):
        """Makes a model, or whatever else stands for the name of a type, of parsed JSON."""
        if data is None or kind == "object":
            return data
        generic = GENERIC.fullmatch(kind)
        if generic and generic[1]:
            return [self.decode(item, generic[2]) for item in data]
        if generic:
            return {key: self.decode(value, generic[4]) for key, value in data.items()}
        if kind in NATIVE:
            return data
        if kind == "datetime":
            return isoparse(data)
        model = getattr(statefulset_client.models, kind, None) or getattr(kubernetes.client.models, kind)
        made = model(local_vars_configuration=self.lenient)
        for attribute, key in model.attribute_map.items():
            if data.get(key) is not None:
                setattr(made, attribute, self.decode(data[key], model.openapi_types[attribute]))
        known = set(model.attribute_map.values())
        made.unknown_fields = {key: value for key, value in data.items() if key not in known}
        return made

    def sanitize_for_serialization(self, obj):
        if isinstance(obj, datetime.datetime) and obj.utcoffset() == datetime.timedelta(0):
            return obj.isoformat().replace("+00:00", "Z")
        result = super().sanitize_for_serialization(obj)
        unknown = getattr(obj, "unknown_fields", None)
        return {**unknown, **result} if unknown else result
