#!/bin/sh
# Builds agent/bin/extension for this machine. For another one, name its compiler: CC=aarch64-linux-gnu-gcc ./build.sh
set -eu
cd "$(dirname "$0")"
mkdir -p agent/bin
${CC:-cc} -O2 -Wall -Wextra -o agent/bin/extension src/main.c
