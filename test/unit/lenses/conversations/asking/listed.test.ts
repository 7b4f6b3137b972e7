/** Conversations that are too long to look at every message: the best by words and by meaning stand for all. */
import { expect, it } from 'vitest'
import { Bitset } from '../../../../../src/base/bitset.ts'
import { atOnce } from '../../../../../src/base/turns.ts'
import { modelKey } from '../../../../../src/embed/embedder.ts'
import type { VectorIndex } from '../../../../../src/index/contract.ts'
import { answeringOf, weighConversation } from '../../../../../src/lenses/conversations/asking/conversation-scores.ts'
import { LISTED } from '../../../../../src/lenses/conversations/asking/cosines.ts'
import { askedWords, questionOf } from '../../../../../src/lenses/conversations/asking/question.ts'
import { MESSAGE_SCORE } from '../../../../../src/lenses/conversations/asking/ranking.ts'
import { type Transcript, Transcripts } from '../../../../../src/lenses/conversations/asking/transcripts.ts'
import { scoreBy } from '../../../../../src/model/formula.ts'
import { call } from '../../../../support/conversations.ts'
import { openTestEngine } from '../../../../support/engines.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

const WORDS = ['kiln', 'barn', 'clay', 'sand', 'door', 'roses', 'hose', 'train', 'soup', 'bread', 'lamp', 'river']
const QUESTION = 'where is the clay kiln'

it('lists 200 by each, with their exact words and cosines, and gives nothing to the others', async () => {
  const embedder = openToyEmbedder()
  await using engine = await openTestEngine({ embedder })
  for (let at = 0; at < 700; at++) {
    const words = [1, 2, 3, 5].map(step => WORDS[(at * step + (at >> 4)) % WORDS.length])
    await call(engine, 'remember', { text: `${words.join(' ')} ${at}`, conversation: 'long', id: `${at}` })
  }
  await engine.embedded()
  const { store, index } = engine.host('conversations')
  const transcripts = new Transcripts(store)
  const partitions = store.partitions().map(({ id }) => id)
  const [transcript] = atOnce(transcripts.ofNamed(['long'], partitions)) as [Transcript]
  const [vector] = (await embedder.embed([QUESTION], 'query')) as [Float32Array]
  const vectors = index(`vectors-${modelKey(embedder.model)}`) as VectorIndex
  const scoresWith = (isScan: boolean) =>
    atOnce(
      atOnce(
        weighConversation(transcript, {
          question: questionOf(QUESTION),
          words: askedWords([{ text: QUESTION, boost: 1 }]),
          meaning: { vectors, vector, approximate: false, isScan, cosineScale: 1 },
          weights: { words: 0.6, meaning: 0.4 },
          holders: new Map(),
          invalid: new Bitset(),
        }),
      ).scores(),
    )
  const [scan, lists] = [scoresWith(true), scoresWith(false)]
  const listed = lists.cosines.listed as ReadonlySet<number>
  expect(scan.cosines.listed).toBeNull()
  expect(listed.size).toBeGreaterThanOrEqual(LISTED)
  expect(listed.size).toBeLessThanOrEqual(2 * LISTED)
  expect(lists.cosines.least).toBe(0)
  for (let at = 0; at < 700; at++) {
    if (listed.has(at)) {
      expect(lists.words[at]).toBe(scan.words[at])
      expect(lists.cosines.values[at]).toBe(scan.cosines.values[at])
    } else {
      expect(lists.ranks.fused[at]).toBe(0)
    }
  }
  for (const at of lists.places) {
    const { signals } = answeringOf({ of: lists, at, score: 0 }, true)
    const words = Object.keys(signals).filter(name => name.startsWith('word '))
    expect(words.length > 0).toBe((lists.words[at] as number) > 0)
    expect(scoreBy(MESSAGE_SCORE, signals, {})).toBeCloseTo(lists.ranks.scores[at] as number, 12)
  }
  const best = (values: Float64Array) =>
    [...values.keys()].sort((a, b) => (values[b] as number) - (values[a] as number))
  for (const at of best(scan.words).slice(0, 10)) expect(listed.has(at)).toBe(true)
  for (const at of best(scan.cosines.values).slice(0, 10)) expect(listed.has(at)).toBe(true)
  expect(lists.ranks.maxCosine).toBe(scan.ranks.maxCosine)
})
