// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates and keys in PEM, which Java's key stores do not read. */
final class Tls {
  private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]+)-----END \\1-----");
  private static final char[] NONE = new char[0];
  private static final byte[] RSA = {0x30, 0x0d, 0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00};
  private static final byte[] EC = {0x06, 0x07, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x02, 0x01};

  private Tls() {}

  static SSLContext context(byte[] authority, byte[] certificate, byte[] key) {
    if (authority == null && certificate == null && key == null) {
      return null;
    }
    TrustManagerFactory trust;
    KeyManagerFactory keys;
    try {
      trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(authority == null ? null : store(certificates(authority), null));
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw new RefusedLocally("certificate authority", e);
    }
    try {
      keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      boolean own = certificate != null || key != null;
      keys.init(own ? store(certificates(certificate), privateKey(key)) : null, NONE);
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw new RefusedLocally("client certificate and key", e);
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new RefusedLocally("TLS", e);
    }
  }

  private static KeyStore store(List<Certificate> certificates, PrivateKey key) throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NONE);
    if (key != null) {
      match(certificates.get(0), key);
      store.setKeyEntry("client", key, NONE, certificates.toArray(Certificate[]::new));
      return store;
    }
    for (int i = 0; i < certificates.size(); i++) {
      store.setCertificateEntry("authority-" + i, certificates.get(i));
    }
    return store;
  }

  private static void match(Certificate certificate, PrivateKey key) throws GeneralSecurityException {
    String algorithm = Map.of("EC", "SHA256withECDSA", "RSA", "SHA256withRSA").getOrDefault(key.getAlgorithm(), key.getAlgorithm());
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(RSA);
    byte[] signed = signature.sign();
    signature.initVerify(certificate.getPublicKey());
    signature.update(RSA);
    if (!signature.verify(signed)) {
      throw new IllegalArgumentException("the key is not that of the certificate");
    }
  }

  private static List<Certificate> certificates(byte[] pem) throws GeneralSecurityException {
    List<Certificate> found = new ArrayList<>();
    Matcher block = blocks(pem);
    while (block.find()) {
      if (block.group(1).equals("CERTIFICATE")) {
        found.add(CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(decoded(block))));
      }
    }
    if (found.isEmpty()) {
      throw new IllegalArgumentException("there is no certificate in PEM in it");
    }
    return found;
  }

  private static PrivateKey privateKey(byte[] pem) throws GeneralSecurityException {
    Matcher block = blocks(pem);
    while (block.find()) {
      switch (block.group(1)) {
        case "PRIVATE KEY":
          return anyOf(decoded(block));
        case "RSA PRIVATE KEY":
          return anyOf(wrapped(RSA, decoded(block)));
        case "EC PRIVATE KEY":
          return anyOf(wrapped(der(0x30, EC, curve(decoded(block))), decoded(block)));
        default: // such as EC PARAMETERS
      }
    }
    throw new IllegalArgumentException("there is no private key in PEM in it");
  }

  private static PrivateKey anyOf(byte[] pkcs8) throws GeneralSecurityException {
    GeneralSecurityException last = null;
    for (String algorithm : List.of("EC", "RSA", "Ed25519")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
      } catch (GeneralSecurityException e) {
        last = e;
      }
    }
    throw last;
  }

  /** The older forms of keys, inside the one that Java reads: a version, the algorithm, the key. */
  private static byte[] wrapped(byte[] algorithm, byte[] key) {
    return der(0x30, new byte[] {0x02, 0x01, 0x00}, algorithm, der(0x04, key));
  }

  /** The identifier of a curve, in [0] of an EC key. */
  private static byte[] curve(byte[] key) {
    for (int i = 0; i + 4 < key.length; i++) {
      if (key[i] == (byte) 0xa0 && key[i + 2] == 0x06 && key[i + 1] == key[i + 3] + 2) {
        return Arrays.copyOfRange(key, i + 2, i + 4 + key[i + 3]);
      }
    }
    throw new IllegalArgumentException("the EC key does not name its curve");
  }

  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    Arrays.stream(parts).forEach(content::writeBytes);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.size();
    if (length < 0x80) {
      out.write(length);
    } else if (length < 0x100) {
      out.writeBytes(new byte[] {(byte) 0x81, (byte) length});
    } else {
      out.writeBytes(new byte[] {(byte) 0x82, (byte) (length >> 8), (byte) length});
    }
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  private static Matcher blocks(byte[] pem) {
    return BLOCK.matcher(pem == null ? "" : new String(pem, StandardCharsets.ISO_8859_1));
  }

  private static byte[] decoded(Matcher block) {
    return Base64.getMimeDecoder().decode(block.group(2));
  }
}
