#!/usr/bin/env node
// Syntax of Node 12 only: a Node that is too old must get as far as the sentence below.
import { tooOldMessage } from './node-version.js'

const tooOld = tooOldMessage()
if (tooOld !== null) {
  console.error(tooOld)
  process.exitCode = 1
} else {
  if (process.versions.node.startsWith('22.')) quietSqliteWarning()
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

/** Node 22 calls node:sqlite experimental at each start; every other warning stays. */
function quietSqliteWarning() {
  const emit = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    const type = rest[0] instanceof Object ? rest[0].type : rest[0]
    if (type === 'ExperimentalWarning' && String(warning).includes('SQLite')) return
    emit.call(process, warning, ...rest)
  }
}
