/** A folder of notes in two languages, asked over every interface, with the model for other languages and without it. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { SECOND_MODEL_FOLDER } from '../../src/embed/open-embedder.ts'
import type { Page } from '../../src/model/page.ts'
import { sameEverywhere } from './equal-everywhere.ts'
import type { Step } from './scenario.ts'

const ENGLISH = {
  tyres: 'Change the tyres of the car in October, before the first snow falls.',
  bread: 'Let the bread dough rest overnight in the refrigerator; it tastes better.',
  volcano: 'The volcano erupted in 1783 and covered half of the island with ash.',
  bees: 'Bees visit flowers to collect nectar and carry the pollen from one to the next.',
}
const SPANISH = {
  faro: 'El faro del puerto fue construido en 1842 para guiar a los barcos durante la noche.',
  vino: 'Para hacer vino tinto se dejan fermentar las uvas con su piel durante dos semanas.',
  cigüeña: 'Las cigüeñas vuelven del sur en febrero y hacen su nido en los campanarios.',
  mina: 'La mina de carbón cerró en 1990 y los mineros perdieron su trabajo.',
}

const put: Step = {
  name: 'notes in two languages are stored',
  operation: 'put',
  input: {
    entries: Object.entries({ ...ENGLISH, ...SPANISH }).map(([id, content]) => ({ id, title: '', content })),
    wait: true,
  },
}

function asked(name: string, text: string, check: (page: Page) => void): Step {
  return {
    name: `${name}: ${text}`,
    operation: 'query',
    // A command loads both models for its query.
    input: { text, limit: 3, timeout_ms: 60_000 },
    expect: ({ result }) => check(result as unknown as Page),
  }
}

function finds(id: string): (page: Page) => void {
  return page => {
    expect(page.items[0]?.id).toBe(id)
    expect(page.verdict).not.toBe('nothing_relevant')
    expect(page.verdict_by).toBe('meaning')
    expect(page.notes).toEqual([])
  }
}

function byWords(id: string | undefined): (page: Page) => void {
  return page => {
    expect(page.items[0]?.id).toBe(id)
    expect(page.mode).toBe('words')
    expect(page.notes).toMatchObject([
      { code: 'other_language', message: expect.stringContaining('querent model use') },
    ])
  }
}

const QUERIES = {
  acrossToEnglish: '¿cuándo hay que cambiar las ruedas del coche?',
  acrossToEnglish2: '¿qué hacen las abejas con las flores?',
  acrossToSpanish: 'when was the lighthouse built',
  acrossToSpanish2: 'how is red wine made from grapes',
  spanish: '¿cuándo vuelven las cigüeñas del sur?',
  english: 'when did the volcano on the island erupt',
}

describe('without a model for other languages', () => {
  sameEverywhere({
    embedder: 'local',
    steps: () => [
      put,
      asked('Spanish over Spanish notes, by words', QUERIES.spanish, byWords('cigüeña')),
      asked('Spanish over English notes, by words', QUERIES.acrossToEnglish2, page => {
        expect(page.mode).toBe('words')
        expect(page.notes).toMatchObject([{ code: 'other_language' }])
        // It was not found out whether the notes say anything of it.
        expect(page.verdict).not.toBe('nothing_relevant')
      }),
      asked('English over English notes', QUERIES.english, finds('volcano')),
    ],
  })
})

describe.skipIf(!existsSync(join(SECOND_MODEL_FOLDER, 'manifest.json')))(
  'with the model of `npm run model:multilingual`',
  () => {
    sameEverywhere({
      embedder: 'local',
      prepare: (_, folder) =>
        writeFileSync(join(folder, '.querent/config.json'), JSON.stringify({ multilingual: SECOND_MODEL_FOLDER })),
      steps: () => [
        put,
        asked('Spanish over English notes', QUERIES.acrossToEnglish, finds('tyres')),
        asked('Spanish over English notes', QUERIES.acrossToEnglish2, finds('bees')),
        asked('English over Spanish notes', QUERIES.acrossToSpanish, finds('faro')),
        asked('English over Spanish notes', QUERIES.acrossToSpanish2, finds('vino')),
        asked('Spanish over Spanish notes', QUERIES.spanish, finds('cigüeña')),
        asked('English over English notes', QUERIES.english, finds('volcano')),
      ],
    })
  },
)
