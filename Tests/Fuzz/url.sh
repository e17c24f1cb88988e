#!/bin/bash
# What the url plugin reads: HTML of other people's pages, links, shortcut files, international names.
source "$(dirname "$0")/run.bash"

compile_module Primitives JSON MediaTypes PluginKit
link_module url "$(find plugins/url -name '*.swift' ! -name URLPlugin.swift | sort)" -lcurl

seed html page '<!doctype html><html><head><meta charset=iso-8859-1><title>A &amp; B &#8211;</title><!-- x --><script>a</script><meta property="og:title" content="c"><meta name=description content='"'d'"'></head><body>'
seed links plain 'https://b\303\274cher.example:8080/a%%20b?c=d#e'
seed links object '{"url":"http://example.com/","title":"t"}'
seed links windows '[InternetShortcut]\r\nURL=https://example.com/\r\n'
seed shortcuts xml '<?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd"><plist version="1.0"><dict><key>URL</key><string>https://example.com/</string></dict></plist>'
seed shortcuts binary 'bplist00\321\1\2SURL_\20\24https://example.com/\10\13\17\0\0\0\0\0\0\1\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\46'
seed punycode name 'bcher-kva'

fuzz html 8000
fuzz links 3000
fuzz shortcuts 4000
fuzz punycode 100
exit $failed
