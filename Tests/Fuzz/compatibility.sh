#!/bin/bash
# What clients of other programs' APIs send: texts, parameters, buttons, times.
source "$(dirname "$0")/run.bash"

compile_c Sources/CLibraries/{tls,openssl,openssl-keys}.c
compile_module Primitives
compile_module JSON
compile_module RichPushAPI
compile_module HTTP
folder=Sources/Origin/Compatibility
link_module Compatibility "$(echo Sources/Origin/Routes/MultipartForm.swift $folder/ForeignText.swift \
  $folder/Ntfy/Ntfy{Parameters,Actions,Delay,Subscription,ID,Priority}.swift \
  $folder/Webhooks/{EventPath,EventText,WebhookTemplate}.swift)" -lssl -lcrypto

seed foreign words 'a =?UTF-8?B?8J+mig==?= =?iso-8859-1*de?q?Gr=FC_=DFe?='
seed foreign url 'https://user@host:1/a b?c=d#{e}'
seed form file 'boundary="a b"\n--a b\r\nContent-Disposition: form-data; name=n\r\n\r\n{}\r\n--a b\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n\r\n--a b--'
seed ntfy all 't=a&prio=5\nX-Tags: a,b\nActions: view, "a, \\"b", https://e.org; action=view, label=c, url=d, clear=true\nIn: 1h30m\n{"topic":"a","priority":3,"tags":["b"],"actions":[{"action":"view","label":"c","url":"d"}],"delay":"2 days"}'
seed subscription all 'poll=1&since=e00000000001&priority=high,5&tags=a,b\nX-Since: 1h30m\nX-Title: T'

seed webhook one '{"notification":{"title":"{{a[0].b|c}}","message":"{{a[].b}}{{{{","link":"{{l}}","to":["news"]}}\n{"a":[{"b":"x"}],"l":"https://e.org"}'
seed webhook rules '{"rules":[{"when":{"@X-GitHub-Event":"push","s":[1,null]},"notification":{"title":"{{@X-GitHub-Delivery}}","replaces":"{{s}}"}},{"withdraw":"{{s}}"}]}\n{"s":1}'

fuzz foreign 2000
fuzz form 4000
fuzz subscription 2000
fuzz ntfy 4000
fuzz webhook 4000
exit $failed
