/** The store that the examples ask: in memory, with the starter vocabulary and five nodes, at a moment that we set. */
import { type OpenChroma, type OpenChromaOptions, openChroma } from '../../src/index.ts' // in your program: 'querent'

export const PYTHON = ['#python', '#async', '#asyncio', '#typing', '#dataclass', '#enum', '#protocol', '#v3.13']
const DICTIONARY = ['#python', '#dictionary', '#iterators', '#functions', '#map', '#list', '#sorting', '#current']
const AGENTS = ['#ai_tools', '#claude', '#tools', '#claude_code', '#agents', '#prompts', '#cli', '#updates']
const CLIMATE = ['#science', '#climate', '#energy', '#policy', '#research', '#history', '#paper', '#current']

export const DAY = 86_400
/** 2025-12-21, noon UTC, in Unix seconds. */
export const TODAY: number = Date.UTC(2025, 11, 21, 12) / 1000

/** What counts as now; examples move it on. */
export const clock = { now: TODAY }

export async function openExample(options: OpenChromaOptions = {}): Promise<OpenChroma> {
  const chroma = await openChroma({ store: 'memory', now: () => clock.now, ...options })
  await chroma.assignStarter()
  for (const hashtag of ['#climate', '#energy', '#policy', '#paper']) {
    await chroma.assignHashtag(hashtag, { zone: 'Mid' })
  }
  const store = async (daysAgo: number, label: string, hashtags: readonly string[], metadata = {}): Promise<void> => {
    clock.now = TODAY - daysAgo * DAY
    await chroma.store({ hashtags, label, content: `${label}.`, metadata })
  }
  await store(400, 'Coroutines, as they were', PYTHON, { paradigm: 'programming_languages', year: 2024 })
  await store(40, 'What agents do with tools', AGENTS, { paradigm: 'ai_tools', release_status: 'public' })
  await store(31, 'A paper about climate change', CLIMATE)
  await store(3, 'Python 3.13 async changes', PYTHON, { paradigm: 'programming_languages', year: 2025 })
  await store(1, 'Dictionary comprehension', DICTIONARY)
  clock.now = TODAY
  return chroma
}
