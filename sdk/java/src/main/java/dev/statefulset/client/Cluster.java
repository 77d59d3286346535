// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import java.net.URI;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/** The way to a cluster, and who one is there. What cannot work, whatever is at its end, is refused. */
public final class Cluster {
  private final String server;
  private final String namespace;
  private final SSLContext tls;
  private final Supplier<String> token;

  /**
   * @param server the address, such as https://10.0.0.1:6443
   * @param authority certificates in PEM that sign the cluster's, or null for those that Java trusts
   * @param certificate the client's certificate in PEM, or null
   * @param key its key in PEM, or null
   * @param token called for each request, or null; it may return null
   */
  public Cluster(String server, String namespace, byte[] authority, byte[] certificate, byte[] key, Supplier<String> token) {
    this.server = checkServer(server);
    this.namespace = namespace;
    this.tls = Tls.context(authority, certificate, key);
    this.token = token == null ? () -> null : token;
    checkToken(this.token.get());
  }

  String server() {
    return server;
  }

  String namespace() {
    return namespace;
  }

  SSLContext tls() {
    return tls;
  }

  String token() {
    return checkToken(token.get());
  }

  private static String checkServer(String server) {
    URI address;
    try {
      address = URI.create(String.valueOf(server));
    } catch (IllegalArgumentException e) {
      throw new RefusedLocally("host", e);
    }
    boolean known = "https".equalsIgnoreCase(address.getScheme()) || "http".equalsIgnoreCase(address.getScheme());
    if (!known || address.getHost() == null) {
      throw new RefusedLocally("host: " + server + ": want https:// or http:// and a name");
    }
    return server.replaceAll("/+$", "");
  }

  /** Does not repeat the token. */
  private static String checkToken(String token) {
    for (int i = 0; token != null && i < token.length(); i++) {
      if (token.charAt(i) <= ' ' || token.charAt(i) > '~') {
        throw new RefusedLocally("token: character " + (i + 1) + " of " + token.length() + " cannot stand in a header");
      }
    }
    return token;
  }
}
