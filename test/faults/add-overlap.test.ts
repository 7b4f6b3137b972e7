/** Several runs of `add` over one folder at once leave what one alone leaves. */
import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { OpenC64 } from '../../src/openings/c64.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { linesOf, overlapAdds } from './add-overlap.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const ROUNDS = Number(process.env['QUERENT_ROUNDS'] ?? (LONG ? 500 : 8))

it(`leave what one alone leaves, in ${ROUNDS} rounds (QUERENT_LONG=1: 500)`, { timeout: ROUNDS * 20_000 }, async () => {
  const { rounds, wrong } = await overlapAdds(ROUNDS, Date.now() & 0xffff)
  expect(wrong.slice(0, 20)).toEqual([])
  expect(rounds).toBe(ROUNDS)
})

it('over one chat, and first questions about the Commodore 64, at once leave what one alone leaves', async () => {
  using folder = tempFolder()
  // More messages than one transaction takes.
  const said = Array.from({ length: 1200 }, (_, at) => ({
    conversation: `c${at % 2}`,
    id: `m${at}`,
    speaker: at % 3 === 0 ? 'ana' : 'ben',
    text: `message ${at} of the talk`,
    at: new Date(1_700_000_000_000 + at * 60_000).toISOString(),
  }))
  writeFileSync(folder.file('chat.jsonl'), said.map(line => `${JSON.stringify(line)}\n`).join(''))
  const open = (home: string) =>
    openEngine({ home: folder.file(home), create: true, embedder: 'none', background: false })
  const use = async (engine: Engine) => {
    const { errors } = await engine.add({ paths: [folder.file('chat.jsonl')], chat: {} })
    expect(errors).toEqual([])
    await new OpenC64(engine).query('what is $D020')
  }
  const engines = await Promise.all([0, 1, 2].map(() => open('home')))
  await Promise.all(engines.map(use))
  await using fresh = await open('fresh')
  await use(fresh)
  expect(linesOf(engines[0] as Engine)).toEqual(linesOf(fresh))
  for (const engine of engines) await engine.close()
})
