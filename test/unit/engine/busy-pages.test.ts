/** Pages of a server that many ask at a time, while others write. */
import { expect, it } from 'vitest'
import type { Engine } from '../../../src/engine/engine.ts'
import type { Page } from '../../../src/model/page.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { openTestEngine } from '../../support/engines.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

const WORDS = ['fox', 'rain', 'dog', 'garden', 'car', 'vixen', 'road']
/** As deep as one retrieval brings, and as pages together show. */
const DEEP = 50
const wordOf = (at: number) => WORDS[at % WORDS.length] as string

async function filled(): Promise<Engine> {
  const engine = await openTestEngine({ store: openMemoryStore(), embedder: openToyEmbedder() })
  const entries = Array.from({ length: 300 }, (_, at) => ({
    id: `e${at}`,
    content: `fox ${wordOf(at)} ${wordOf(at >> 2)} ${at}`,
    visibility: 'public' as const,
  }))
  await engine.put({ entries, wait: true })
  return engine
}

/** Newcomers that would stand before all there is, and a change of what is there. */
async function write(engine: Engine): Promise<void> {
  const entries = [0, 1, 2].map(at => ({
    id: `new${at}`,
    content: 'fox rain dog garden',
    visibility: 'public' as const,
  }))
  await engine.put({ entries, wait: true })
}

const of = (viewer: string) => ({ viewer: { id: viewer } })
const question = (at: number) => ({ text: `fox ${wordOf(at)} ${at}`, any: true, limit: 10, touch: false })

async function both(
  engine: Engine,
  viewer: string,
  { items, cursor }: Page,
  input: object,
): Promise<readonly string[]> {
  const next = await engine.query(
    { ...input, limit: DEEP - items.length, cursor: cursor as string } as never,
    of(viewer),
  )
  return [...items, ...next.items].map(({ id }) => id)
}

it('two hundred open first pages go on after a write as if there had been none', async () => {
  const engine = await filled()
  const asked: {
    readonly viewer: string
    readonly first: Page
    readonly whole: readonly string[]
    readonly at: number
  }[] = []
  for (let at = 0; at < 200; at++) {
    const viewer = `viewer${at % 20}`
    const whole =
      at % 20 > 1 ? [] : (await engine.query({ ...question(at), limit: DEEP }, of(viewer))).items.map(({ id }) => id)
    asked.push({ viewer, first: await engine.query(question(at), of(viewer)), whole, at })
  }
  await write(engine)
  for (const { viewer, first, whole, at } of asked) {
    const shown = await both(engine, viewer, first, question(at))
    if (whole.length > 0) expect(shown).toEqual(whole)
    expect(shown.filter(id => id.startsWith('new'))).toEqual([])
    expect(shown).toHaveLength(DEEP)
  }
  await engine.close()
})

it('a requester of very many takes none of the others’ away', async () => {
  const engine = await filled()
  const first = await engine.query(question(3), of('quiet'))
  const whole = (await engine.query({ ...question(3), limit: DEEP }, of('quiet'))).items.map(({ id }) => id)
  // One who has many keys is one.
  const loud = (at: number) => `did:key:z6Mk${String(at).replaceAll('0', 'x')}`
  for (let at = 0; at < 700; at++) await engine.query({ ...question(at), mode: 'words' }, of(loud(at)))
  await write(engine)
  expect(await both(engine, 'quiet', first, question(3))).toEqual(whole)
  await engine.close()
})
