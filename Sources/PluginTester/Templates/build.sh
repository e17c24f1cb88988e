#!/bin/sh
# Compiles main.swift into the plugin, with the Swift runtime linked in, so that it runs anywhere.
cd "$(dirname "$0")" && exec swiftc -O -static-stdlib -o NAME main.swift
