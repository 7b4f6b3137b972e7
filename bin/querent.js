#!/usr/bin/env node
// Syntax of Node 12 only: a Node that is too old must get as far as the sentence below.
import { tooOldMessage } from './node-version.js'

const tooOld = tooOldMessage()
if (tooOld !== null) {
  console.error(tooOld)
  process.exitCode = 1
} else {
  import('./compile-cache.js')
    .then(cache => cache.keepCompiledCode())
    .then(() => import('../dist/command/main.js'))
    .then(cli => cli.main(process.argv.slice(2)))
    .then(endWith, error => {
      console.error(`querent: ${error instanceof Error ? error.message : error}`)
      endWith(1)
    })
}

function endWith(code) {
  process.exitCode = code
}
