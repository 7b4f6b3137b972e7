/** `config.json`: whatever stands in it, the engine opens, or says what is wrong with it, and again in the same words. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Json } from '../../../src/base/canonical.ts'
import type { QuerentError } from '../../../src/model/errors.ts'
import { openTestEngine } from '../../support/engines.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'
import { changeJson, isShallow, smallerJson, wireText } from '../engine/json-kind.ts'
import type { Kind } from '../engine/kind.ts'
import type { Target } from '../engine/target.ts'
import { asText, changeText, smallerTexts } from '../engine/text-kind.ts'
import { must, mustBeAlike, mustBeRefusal } from '../oracles.ts'

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
const WORDS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  'null',
  '1e999',
  '"lenses"',
  '"beliefs"',
  '"sources"',
  '"__proto__"',
  '//',
]

/** As text: broken JSON too. Every other change is one of the JSON. */
const kind: Kind<string> = {
  make: chance => chance.pick(SEEDS),
  change: (text, chance, other) => {
    const json = chance.oneIn(4) ? undefined : parsed(text)
    if (json === undefined) return changeText(text, chance, other, WORDS).slice(0, 20_000)
    return wireText(changeJson(json, chance, parsed(other) ?? null, WORDS))
  },
  *smaller(text) {
    const json = parsed(text)
    if (json !== undefined) for (const less of smallerJson(json)) yield JSON.stringify(less)
    yield* smallerTexts(text)
  },
  write: text => text,
  read: asText,
}

export const settings: Target<string> = {
  name: 'settings',
  kind,
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
  mustBeAlike(one, other)
}

async function opened(home: string): Promise<QuerentError | null> {
  try {
    await using engine = await openTestEngine({ home, embedder: openToyEmbedder() })
    await engine.query({ text: 'fox' }).catch(mustBeRefusal)
    return null
  } catch (thrown) {
    return mustBeRefusal(thrown)
  }
}

function parsed(text: string): Json | undefined {
  try {
    const json = JSON.parse(text) as Json
    return isShallow(json) ? json : undefined
  } catch {
    return undefined
  }
}
