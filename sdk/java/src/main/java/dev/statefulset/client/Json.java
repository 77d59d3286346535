// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;

/** How objects are read and written. */
public final class Json {
  static final ObjectMapper MAPPER =
      new ObjectMapper().registerModule(times()).enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private Json() {}

  /** The JSON of an object. */
  public static String text(Object object) {
    try {
      return MAPPER.writeValueAsString(object);
    } catch (IOException e) {
      throw new IllegalArgumentException("writing " + object.getClass() + ": " + e.getMessage(), e);
    }
  }

  static <T> T read(String text, Class<T> type) {
    try {
      return MAPPER.readValue(text, type);
    } catch (IOException e) {
      throw new IllegalArgumentException("reading a " + type.getSimpleName() + ": " + e.getMessage(), e);
    }
  }

  /** Times in the form of RFC 3339. Jackson's own module for them is one more library, and writes numbers. */
  private static SimpleModule times() {
    SimpleModule module = new SimpleModule();
    module.addSerializer(
        new StdSerializer<OffsetDateTime>(OffsetDateTime.class) {
          private static final long serialVersionUID = 1;

          @Override
          public void serialize(OffsetDateTime time, JsonGenerator to, SerializerProvider provider) throws IOException {
            to.writeString(DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time));
          }
        });
    module.addDeserializer(
        OffsetDateTime.class,
        new StdDeserializer<OffsetDateTime>(OffsetDateTime.class) {
          private static final long serialVersionUID = 1;

          @Override
          public OffsetDateTime deserialize(JsonParser from, DeserializationContext context) throws IOException {
            return OffsetDateTime.parse(from.getText());
          }
        });
    return module;
  }
}
