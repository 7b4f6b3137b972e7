/**
 * `node kill-engine-child.ts <home> <folder of files> <number of the first act> <seed> [shared]`: an engine at work until it is
 * killed. Before each act a line says what it will do, after it a line says that it was done (`KillLine`). `shared`: others
 * work on the same home; ids begin with the folder's name. It stops at the line `stop`, counts the uses that it still owes at the line
 * `settle`, and answers at a line `answer <time>`.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { OWNER } from '../../src/model/partition.ts'
import { seededUniform } from '../support/seeded.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { answersOf, type Will } from './kill-acts.ts'
import { say } from './say.ts'

const [, , home = '', files = '', firstAct = '1', seed = '1', shared] = process.argv
const random = seededUniform(Number(seed))
/** Acts of one opening: enough changes for snapshots to be written when it closes. */
const ACTS_AN_OPENING = 60
const FILES = 10
const OWN = { kind: 'private', holder: OWNER }
const WORDS = ['fox', 'vixen', 'dog', 'car', 'automobile', 'road', 'garden', 'tulip', 'rain', 'quick', 'swift']

const ownName = basename(files)
const ENTRY = shared === undefined ? 'p' : `${ownName}-p`
/** What the parent said last, and the time that it gave. */
const reported = { stop: false, settle: false, now: null as number | null }

if (shared !== undefined) {
  createInterface({ input: process.stdin }).on('line', line => {
    if (line === 'stop') reported.stop = true
    else if (line === 'settle') reported.settle = true
    else reported.now = Number(line.split(' ')[1])
  })
}

let act = Number(firstAct)
for (let isDone = false; !isDone; ) {
  const engine = await openEngine({
    home,
    embedder: openToyEmbedder(),
    clock: { now: () => reported.now ?? Date.now() },
  })
  say({ ready: true })
  for (let count = 0; count < ACTS_AN_OPENING && !reported.stop; count++) await take(engine, act++)
  isDone = reported.stop
  if (isDone) await answer(engine)
  say({ closing: true })
  await engine.close()
}
process.exit()

/** Once all processes have stopped: what the engine answers that has followed the others' writes. */
async function answer(engine: Engine): Promise<void> {
  say({ stopped: true })
  while (!reported.settle) await sleep(5)
  // An export counts what is owed before its first line. Nobody else writes for long now.
  for await (const _line of engine.export()) break
  say({ settled: true })
  while (reported.now === null) await sleep(5)
  writeFileSync(`${files}.answers`, JSON.stringify(await answersOf(engine)))
  say({ answered: true })
}

async function take(engine: Engine, number: number): Promise<void> {
  const [will, run] = choose(engine, number)
  say({ act: number, will })
  say({ act: number, did: await run() })
}

function choose(engine: Engine, number: number): readonly [Will, () => Promise<readonly string[]>] {
  const kind = random()
  if (kind < 0.45) return putting(engine, number)
  if (kind < 0.58) return adding(engine, number)
  if (kind < 0.63) return importing(engine, number)
  if (kind < 0.75) return deleting(engine)
  return asking(engine)
}

function putting(engine: Engine, number: number): readonly [Will, () => Promise<readonly string[]>] {
  const entries = some(1 + pick(12), ENTRY, 60).map(id => ({ id, content: `${number} ${sentence()}` }))
  const wait = random() < 0.5
  const will: Will = { kind: 'put', contents: Object.fromEntries(entries.map(({ id, content }) => [id, content])) }
  return [will, async () => (await engine.put({ entries, wait })).ids]
}

/** All or nothing, as a put; of so many that it takes a while. */
function importing(engine: Engine, number: number): readonly [Will, () => Promise<readonly string[]>] {
  const ids = some(200, ENTRY, 60)
  const contents = Object.fromEntries(ids.map(id => [id, `${number} ${sentence()}`]))
  const run = async () => {
    await engine.import(linesOf(contents))
    return ids
  }
  return [{ kind: 'import', contents }, run]
}

async function* linesOf(contents: Readonly<Record<string, string>>): AsyncGenerator<unknown> {
  const now = Date.now()
  const times = { createdAt: now, updatedAt: now, knownAt: now, validFrom: null, validUntil: null, origin: null }
  const words = { collection: 'notes', kind: 'note', title: '', tags: [], metadata: {} }
  for (const [id, content] of Object.entries(contents)) {
    const chunks = [{ start: 0, end: content.length, startLine: 1, endLine: 1, headings: [] }]
    yield { type: 'entry', entry: { id, content, ...words, ...times, chunks, audience: OWN } }
  }
}

/**
 * Some files are written, some removed; then the whole folder is added. What an act before this one wrote, and was killed
 * before it could add it, is added too.
 */
function adding(engine: Engine, number: number): readonly [Will, () => Promise<readonly string[]>] {
  const changes = new Map(
    some(1 + pick(4), 'f', FILES).map(name => [name, random() < 0.8 ? `${number} ${sentence()}` : null]),
  )
  const names = Array.from({ length: FILES }, (_, at) => `f${at}`)
  const contents = names.map(name => [`${ownName}/${name}.md`, changes.has(name) ? changes.get(name) : onDisk(name)])
  const run = async () => {
    for (const [name, content] of changes) toDisk(name, content)
    const { errors } = await engine.add({ paths: [files], wait: random() < 0.5 })
    if (errors.length > 0) throw new Error(JSON.stringify(errors))
    return names
  }
  return [{ kind: 'add', contents: Object.fromEntries(contents) }, run]
}

function onDisk(name: string): string | null {
  const path = join(files, `${name}.md`)
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

/** Never half a file, which would be a right thing to add. */
function toDisk(name: string, content: string | null): void {
  const path = join(files, `${name}.md`)
  if (content === null) {
    rmSync(path, { force: true })
  } else {
    writeFileSync(`${files}.part`, content)
    renameSync(`${files}.part`, path)
  }
}

function deleting(engine: Engine): readonly [Will, () => Promise<readonly string[]>] {
  const ids = some(1 + pick(3), ENTRY, 60)
  const will: Will = { kind: 'delete', contents: Object.fromEntries(ids.map(id => [id, null])) }
  const run = async () => {
    const there: string[] = []
    for (const id of ids) if (await engine.get({ id, touch: false }).then(Boolean, () => false)) there.push(id)
    if (there.length > 0) await engine.delete({ ids: there })
    return ids
  }
  return [will, run]
}

/** What it shows, it counts as used. */
function asking(engine: Engine): readonly [Will, () => Promise<readonly string[]>] {
  const text = sentence()
  return [
    { kind: 'query', contents: {} },
    async () => (await engine.query({ text, any: true, touch: true, timeout_ms: 120_000 })).items.map(item => item.id),
  ]
}

function sentence(): string {
  return Array.from({ length: 1 + pick(6) }, () => WORDS[pick(WORDS.length)]).join(' ')
}

function some(count: number, prefix: string, among: number): readonly string[] {
  return [...new Set(Array.from({ length: count }, () => `${prefix}${pick(among)}`))]
}

function pick(below: number): number {
  return Math.floor(random() * below)
}
