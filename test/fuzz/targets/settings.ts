/** `config.json`: whatever it contains, the engine opens or reports what is wrong, the second time in the same words. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import type { Json } from '../../../src/base/canonical.ts'
import type { QuerentError } from '../../../src/model/errors.ts'
import { openTestEngine } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { jsonNear, type Target, textsNear, wireText } from '../inputs.ts'
import { assertAlike, assertRefusal, must } from '../oracles.ts'

const SETTINGS: Json = {
  durability: 'full',
  default_lens: 'collections',
  live: { poll_ms: 100 },
  limits: {},
  lenses: {
    chroma: { default_profile: 'default', hashtag_count: 8 },
    collections: { sources: ['local'], collections: ['notes'] },
    c64: { collection: 'c64' },
    context: { max_file_bytes: 1000 },
    beliefs: { thresholds: { 'toy@toy': { include: 0.5, exclude: 0.4 } } },
  },
  sources: {
    far: {
      kind: 'chromadb',
      url: 'http://127.0.0.1:1',
      token_env: 'NONE',
      public: true,
      numeric_date: { key: 'd', unit: 's' },
    },
    near: { kind: 'qdrant', url: 'http://127.0.0.1:1', sparse: { vector_name: 'v', model: 'm' } },
  },
}
const SEEDS = [JSON.stringify(SETTINGS), '{}', '', '{"lenses":{}}', '[]']
const WORDS = '{ } [ ] , : " null 1e999 "lenses" "beliefs" "sources" "__proto__" //'.split(' ')

/** As text: broken JSON too. Three in four are edited as JSON. */
function near(good: readonly string[]): fc.Arbitrary<string> {
  const json = good.map(parsed).filter(value => value !== undefined)
  return fc.oneof(textsNear(good, WORDS, 20_000), { weight: 3, arbitrary: jsonNear(json, WORDS).map(wireText) })
}

export const settings: Target<string> = {
  near,
  seeds: SEEDS,
  open: async () => {
    const place = tempFolder()
    return {
      try: text => tryText(place.file('home'), text),
      close: () => rmSync(place.path, { recursive: true, force: true }),
    }
  },
}

async function tryText(home: string, text: string): Promise<void> {
  mkdirSync(home, { recursive: true })
  writeFileSync(`${home}/config.json`, text)
  const one = await opened(home)
  if (one === null) return
  const other = await opened(home)
  must(other !== null, 'refused, then taken')
  assertAlike(one, other)
}

async function opened(home: string): Promise<QuerentError | null> {
  try {
    await using engine = await openTestEngine({ home, embedder: openToyEmbedder() })
    await engine.query({ text: 'fox' }).catch(assertRefusal)
    return null
  } catch (thrown) {
    return assertRefusal(thrown)
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
