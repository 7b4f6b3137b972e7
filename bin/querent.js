#!/usr/bin/env node
// Syntax of Node 12 only: a Node that is too old must get as far as the sentence below.
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 16)) {
  const advice = 'Without installing Node: npx -y -p node@24 -p querent querent'
  console.error(`querent needs Node 22.16 or newer, this is ${process.versions.node}. ${advice}`)
  process.exitCode = 1
} else {
  if (major === 22) quietSqliteWarning()
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
