// What the builders of model folders share: hashes, and files that appear whole or not at all.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TEMPORARY = '.building-'
/** A build takes less than a minute: what is older was left by one that died. */
const TEMPORARY_LIFETIME_MS = 60_000

export function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns the bytes; throws unless they have that hash. */
export function checkHash(name, bytes, expected) {
  const found = sha256(bytes)
  if (found !== expected) throw new Error(`${name}: expected SHA-256 ${expected}, found ${found}`)
  return bytes
}

/** The manifest is known before the build, so a folder that has it and the files that it names needs no build. */
export function isComplete(folder, manifest, notice) {
  return (
    read(folder, 'manifest.json').toString() === manifestText(manifest) &&
    read(folder, 'NOTICE').toString() === notice &&
    filesBefore(folder, manifest) !== null
  )
}

/** The files of a folder whose manifest alone is of another version, by name; null: some are missing or differ. */
export function filesBefore(folder, { files }) {
  const found = Object.fromEntries(Object.keys(files).map(name => [name, read(folder, name)]))
  return Object.entries(files).every(([name, hash]) => sha256(found[name]) === hash) ? found : null
}

function read(folder, name) {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
}

/** `files`: content by name. */
export function writeModelFolder(folder, files, manifest, notice) {
  mkdirSync(folder, { recursive: true })
  removeLeftovers(folder)
  for (const [name, content] of Object.entries(files)) write(folder, name, content)
  write(folder, 'NOTICE', notice)
  write(folder, 'manifest.json', manifestText(manifest)) // last: a folder with the right manifest is complete
}

function manifestText(manifest) {
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** Under a temporary name first, so that nobody reads half a file. */
function write(folder, name, content) {
  const temporary = join(folder, `${TEMPORARY}${process.pid}-${Math.random().toString(36).slice(2)}-${name}`)
  writeFileSync(temporary, content)
  renameSync(temporary, join(folder, name))
}

function removeLeftovers(folder) {
  for (const name of readdirSync(folder).filter(name => name.startsWith(TEMPORARY))) {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > TEMPORARY_LIFETIME_MS) rmSync(join(folder, name), { force: true })
  }
}
