#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the clients in dist/sdk from the published OpenAPI document, with the programs that test them. What it needs beyond
# Go, Node and a JDK it installs: npm packages of pinned versions, and Debian packages. The Go client is in the repository.
#
#   hack/sdk.sh [typescript|python|java]...    default: all of them
#
# VERSION is what the packages are named, v0.0.0 by default. PACKAGES is where they go, dist/sdk by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ROOT=$PWD
DIST=$ROOT/dist/sdk
PACKAGES=${PACKAGES:-$DIST}
NUMBER=${VERSION:-v0.0.0}
NUMBER=${NUMBER#v}
if [[ ! $NUMBER =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then NUMBER=0.0.0; fi
# The newest that runs without asking Maven's repository for its program, which this package brings along.
GENERATOR=@openapitools/openapi-generator-cli@1.0.18-4.3.1
GENERATOR_SUM=c5319d347158e178aec1ec5766d4ab63b7377337214da01f978816edd51f5c00
JACKSON=(/usr/share/java/jackson-{annotations,core,databind}.jar /usr/share/java/snakeyaml.jar)

step() { printf 'sdk: %s\n' "$1"; }

# quietly COMMAND... prints what a command says only if it fails.
quietly() {
  local said code=0
  said=$("$@" 2>&1) || code=$?
  if ((code != 0)); then
    printf 'sdk: %s failed:\n%s\n' "$*" "$said" >&2
    exit "$code"
  fi
}

# packages NAME... installs Debian packages that are missing.
packages() {
  local missing=() p
  for p in "$@"; do dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q ' installed' || missing+=("$p"); done
  if ((${#missing[@]} == 0)); then return; fi
  "$ROOT/hack/debian-packages.sh" sdk "${missing[@]}"
}

# prepared LANGUAGE writes the document that the generator of a language can read.
prepared() { (cd hack/sdk && go run . prepare --document ../../openapi/v3/apps.statefulset.dev_v1.json --for "$1" --out "$DIST/$1.json"); }

# generator ARGUMENT... runs openapi-generator. PARTS are the parts of a client that it writes, all of them by default.
PARTS=()
generator() {
  local jar=$DIST/generator/package/bin/openapi-generator.jar
  if [[ ! -e $jar ]]; then
    mkdir -p "$DIST/generator"
    rm -f "$DIST"/generator/*.tgz
    quietly npm pack --pack-destination "$DIST/generator" "$GENERATOR"
    (cd "$DIST/generator" && sha256sum --quiet --check <<<"$GENERATOR_SUM  $(ls ./*.tgz)" && tar xzf ./*.tgz)
  fi
  quietly command java "${PARTS[@]}" -jar "$jar" generate "$@"
}

# begin LANGUAGE empties the directory of a client, but keeps what npm has installed.
begin() {
  local dir=$DIST/$1
  mkdir -p "$dir"
  find "$dir" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
  cp -r "sdk/$1/." "$dir"
  cp LICENSE "$dir"
}

typescript() {
  begin typescript
  prepared typescript
  cd "$DIST/typescript"
  quietly npm ci --no-audit --no-fund
  sed -i "s/\"version\": \"0.0.0\"/\"version\": \"$NUMBER\"/" package.json
  quietly npx --no-install openapi-typescript ../typescript.json --default-non-nullable false --output src/schema.ts
  quietly npx --no-install tsc --project .
  quietly npm pack --pack-destination "$PACKAGES"
  # The programs that test it import it as a user does.
  mkdir -p test
  cp "$ROOT"/test/sdk/typescript/*.ts example.ts test
  quietly npx --no-install tsc --project tsconfig.test.json
  cd "$ROOT"
}

python() {
  packages python3-kubernetes python3-setuptools
  begin python
  prepared python
  local made=$DIST/generator/python package=$DIST/python/statefulset_client
  rm -rf "$made"
  generator -g python -i "$DIST/python.json" -o "$made" --package-name statefulset_client
  cp -r "$made/statefulset_client/models" "$made/statefulset_client/api" "$package"
  # The generated code stands on the package kubernetes instead of on copies of its parts.
  find "$package/models" "$package/api" -name '*.py' -exec sed -i \
    -e 's/^from statefulset_client\.configuration import/from kubernetes.client.configuration import/' \
    -e 's/^from statefulset_client\.exceptions import/from kubernetes.client.exceptions import/' {} +
  # A candidate is v0.3.1-rc.1 here and 0.3.1rc1 in Python.
  sed -i "s/^__version__ = .*/__version__ = \"$(sed 's/-rc\./rc/; s/-/+/' <<<"$NUMBER")\"/" "$package/__init__.py"
  cd "$DIST/python"
  quietly /usr/bin/python3 -c 'import setuptools; setuptools.setup()' --quiet sdist --dist-dir "$PACKAGES"
  cd "$ROOT"
}

java() {
  packages libjackson2-core-java libjackson2-annotations-java libjackson2-databind-java libyaml-snake-java
  begin java
  prepared java
  local dir=$DIST/java made=$DIST/generator/java
  rm -rf "$made"
  PARTS=(-Dmodels -DmodelTests=false -DmodelDocs=false)
  generator -g java --library native -i "$DIST/java.json" -o "$made" -t "$dir/templates" --model-package dev.statefulset.client.model \
    --type-mappings int-or-string=IntOrString,quantity=Quantity -p dateLibrary=java8 \
    --import-mappings IntOrString=dev.statefulset.client.IntOrString,Quantity=dev.statefulset.client.Quantity
  PARTS=()
  cp -r "$made/src/main/java/dev" "$dir/src/main/java"
  sed -i "s|<version>0.0.0</version>|<version>$NUMBER</version>|" "$dir/pom.xml"
  mkdir -p "$dir"/{classes,test,lib}
  cp "${JACKSON[@]}" "$dir/lib"
  find "$dir/src/main/java" -name '*.java' | xargs javac --release 17 -Xlint:all,-processing -Werror -d "$dir/classes" -cp "$dir/lib/*"
  (cd "$dir" && jar --create --file "$PACKAGES/statefulset-client-$NUMBER.jar" -C classes . LICENSE README.md pom.xml)
  (cd "$dir" && jar --create --file "$PACKAGES/statefulset-client-$NUMBER-sources.jar" -C src/main/java . LICENSE)
  javac --release 17 -d "$dir/test" -cp "$dir/classes:$dir/lib/*" test/sdk/java/*.java sdk/java/example/*.java
}

mkdir -p "$DIST" "$PACKAGES"
languages=("$@")
((${#languages[@]})) || languages=(typescript python java)
for language in "${languages[@]}"; do
  case $language in
    go) continue ;;
    typescript | python | java) ;;
    *) echo "sdk: unknown language $language; want typescript, python or java" >&2; exit 2 ;;
  esac
  begun=$SECONDS
  step "$language"
  "$language"
  step "$language took $((SECONDS - begun))s"
done
