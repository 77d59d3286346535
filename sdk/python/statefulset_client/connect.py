# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

import os
import ssl
from urllib.parse import urlsplit

import urllib3
from kubernetes import client, config

from statefulset_client.api_client import ApiClient
from statefulset_client.errors import RefusedLocally
from statefulset_client.sets import StatefulSets

IN_POD = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class Client:
    """A connection to a cluster. `namespace` is that of the kubeconfig's context."""

    def __init__(self, api_client, namespace="default"):
        self.api_client = api_client
        self.namespace = namespace

    def stateful_sets(self, namespace=None):
        """The sets of a namespace."""
        return StatefulSets(self.api_client, namespace or self.namespace)


def connect(kubeconfig=None, context=None):
    """Reads the way to a cluster, and refuses one that cannot work. Without a path it is what kubectl would take, and
    in a pod the pod's own cluster. Nothing is sent yet, unless a plugin of the kubeconfig does."""
    configuration = client.Configuration()
    namespace = "default"
    try:
        if kubeconfig is None and context is None and os.path.exists(IN_POD) and not os.environ.get("KUBECONFIG"):
            config.load_incluster_config(client_configuration=configuration)
            with open(IN_POD, encoding="utf-8") as file:
                namespace = file.read().strip()
        else:
            config.load_kube_config(kubeconfig, context, client_configuration=configuration)
            contexts, current = config.list_kube_config_contexts(kubeconfig)
            chosen = next((c for c in contexts if c["name"] == context), current)
            namespace = chosen["context"].get("namespace") or namespace
    except (config.ConfigException, OSError, ValueError) as error:
        raise RefusedLocally("kubeconfig: %s" % error) from error
    return Client(new_api_client(configuration), namespace)


def new_api_client(configuration):
    """An ApiClient for a way that is known already."""
    check(configuration)
    if configuration.retries is None:
        # The cluster's word of when to come again is for the caller.
        configuration.retries = urllib3.Retry(3, respect_retry_after_header=False)
    return ApiClient(configuration)


def check(configuration):
    """Says what of the way to a cluster cannot work, whatever is at its end."""
    address = urlsplit(configuration.host or "")
    if address.scheme not in ("https", "http") or not address.hostname:
        raise RefusedLocally("host: %s: want https:// or http:// and a name" % configuration.host)
    token = configuration.api_key.get("authorization", "")
    token = token[len("Bearer ") :] if token.startswith("Bearer ") else token
    for i, character in enumerate(token):
        if not "!" <= character <= "~":
            raise RefusedLocally("token: character %d of %d cannot stand in a header" % (i + 1, len(token)))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if configuration.ssl_ca_cert:
            tls.load_verify_locations(configuration.ssl_ca_cert)
    except (OSError, ssl.SSLError) as error:
        raise RefusedLocally("certificate authority: %s" % error) from error
    try:
        if configuration.cert_file or configuration.key_file:
            tls.load_cert_chain(configuration.cert_file or configuration.key_file, configuration.key_file)
    except (OSError, ssl.SSLError) as error:
        raise RefusedLocally("client certificate and key: %s" % error) from error
