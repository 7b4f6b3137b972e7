/** `add` of one folder by several engines at once, while its files change: in the end the store is what one `add` leaves. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { FILES } from '../../src/store/core-tables.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { tempFolder } from '../support/temp-folder.ts'

const NAMES = 40
const ROUNDS_A_STORE = 20
const PLAIN = { embedder: 'none', background: false } as const

export interface AddFigures {
  rounds: number
  wrong: string[]
}

type Random = () => number

export async function overlapAdds(rounds: number, seed: number): Promise<AddFigures> {
  const random = seededUniform(seed)
  const figures: AddFigures = { rounds: 0, wrong: [] }
  while (figures.rounds < rounds) await withStore(Math.min(ROUNDS_A_STORE, rounds - figures.rounds), random, figures)
  return figures
}

async function withStore(rounds: number, random: Random, figures: AddFigures): Promise<void> {
  using folder = tempFolder()
  const notes = folder.file('notes')
  for (let at = 0; at < NAMES; at += 2) write(notes, at, 0)
  const home = folder.file('home')
  const engines = await Promise.all([0, 1, 2].map(() => openEngine({ home, create: true, ...PLAIN })))
  try {
    for (let round = 0; round < rounds; round++, figures.rounds++) {
      const isEdited = round % 2 === 1
      const note = (line: string) => figures.wrong.push(`round ${figures.rounds}: ${line}`)
      const adding = engines.map(async engine => {
        await sleep(random() * 6)
        const { errors } = await engine.add({ paths: [notes] })
        for (const { path, message } of errors)
          if (!isEdited || !/disappeared/.test(message)) note(`${path}: ${message}`)
      })
      const editing = async () => {
        for (let left = isEdited ? 6 : 0; left > 0; left--) {
          await sleep(random() * 6)
          edit(notes, random)
        }
      }
      await Promise.all([editing(), ...adding])
      // One that began before the last edit may have read what was there before it.
      if (isEdited) await Promise.all(engines.slice(0, 2).map(engine => engine.add({ paths: [notes] })))
      for (const line of await differences(engines[0] as Engine, notes, folder.file(`fresh${round}`))) note(line)
      edit(notes, random)
      edit(notes, random)
    }
  } finally {
    for (const engine of engines) await engine.close()
  }
}

function edit(folder: string, random: Random): void {
  const at = Math.floor(random() * NAMES)
  if (random() < 0.7) write(folder, at, Math.floor(random() * 4))
  else rmSync(join(folder, nameOf(at)), { force: true })
}

function write(folder: string, at: number, variant: number): void {
  const path = join(folder, nameOf(at))
  mkdirSync(dirname(path), { recursive: true })
  const lines = Array.from({ length: variant + 1 }, (_, n) =>
    JSON.stringify({ id: `r${at}-${n}`, content: `record ${n} of ${variant}` }),
  )
  writeFileSync(path, path.endsWith('.jsonl') ? `${lines.join('\n')}\n` : `# Note ${at}\n\nVariant ${variant}.\n`)
}

function nameOf(at: number): string {
  return at % 4 === 0 ? `records${at}.jsonl` : `${at % 3 === 0 ? 'inner/' : ''}note${at}.md`
}

async function differences(engine: Engine, notes: string, home: string): Promise<readonly string[]> {
  await using fresh = await openEngine({ home, create: true, ...PLAIN })
  await fresh.add({ paths: [notes] })
  const [found, wanted] = [linesOf(engine), linesOf(fresh)]
  return [
    ...wanted.filter(line => !found.includes(line)).map(line => `lacks ${line}`),
    ...found.filter(line => !wanted.includes(line)).map(line => `has ${line}`),
    ...(found.length === wanted.length ? [] : [`${found.length} entries, not ${wanted.length}`]),
    ...(await damageIn(engine.host('default').store)),
  ].map(line => line.slice(0, 200))
}

/** A line an entry: what it says, and the file and its state that it was made from. */
export function linesOf(engine: Engine): readonly string[] {
  const { store } = engine.host('default')
  const entries = store.entries(store.scanEntries(0, 10_000))
  return entries
    .map(({ key, id, content, title }) => {
      const { path, hash } = store.table(FILES).get({ entry: key }) ?? {}
      return `${id}: ${title} ${JSON.stringify(content)} from ${path} ${hash}`
    })
    .sort()
}
