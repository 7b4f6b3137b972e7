/** BQ-198: questions by meaning, with the real model, over the sample, by two agents who see it otherwise. */
import { expect } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { loadBeliefsSample } from '../../src/openings/beliefs.ts'
import { modelFolder } from '../support/model.ts'
import { refused } from './beliefs-scenario.ts'
import { sameEverywhere } from './equal-everywhere.ts'
import { callHere } from './interfaces.ts'
import type { Step } from './scenario.ts'

const VACCINES = { semantic: 'do mRNA vaccines rewrite DNA' }
// A process that loads its model on a busy machine may take longer than answers are waited for.
const options = { scope: { local: true, federated: true, network: true }, limit: 5, timeout_ms: 30_000 }
const ASKED = { ...VACCINES, options }

/** What is seen, and so said, by each. */
function asked(viewer: string): readonly Step[] {
  const by = (name: string): string => `${name}, by ${viewer}`
  return [
    {
      name: by('by meaning'),
      operation: 'beliefs.query',
      viewer,
      input: { ...ASKED, options: { ...options, include_explanation: true, diversity: { enabled: true } } },
      expect: ({ result }) => {
        expect(result.beliefs).toHaveLength(5)
        expect(result.next_cursor).not.toBeNull()
      },
    },
    {
      name: by('the next page'),
      operation: 'beliefs.query',
      viewer,
      inputFrom: answers => ({
        ...ASKED,
        options: {
          ...options,
          include_explanation: true,
          diversity: { enabled: true },
          cursor: answers.get(by('by meaning')).next_cursor,
        },
      }),
      expect: ({ result }) => expect(result.beliefs[0].rank).toBe(6),
    },
    { name: by('opposed'), operation: 'beliefs.contradictions', viewer, input: { belief_id: 'br-no-dna' } },
    {
      name: by('alike'),
      operation: 'beliefs.similar',
      viewer,
      input: { belief_id: 'br-no-dna', options: { limit: 4 } },
    },
    {
      name: by('why one over another'),
      operation: 'beliefs.explain',
      viewer,
      input: { belief_id: 'e3-dna', query: ASKED, other_id: 'br-no-dna' },
    },
    {
      name: by('for a purpose'),
      operation: 'beliefs.context_query',
      viewer,
      input: { ...ASKED, purpose: 'decide', max_tokens: 300 },
    },
  ]
}

sameEverywhere({
  embedder: 'local',
  lens: 'beliefs',
  rows: 'BQ-198',
  prepare,
  steps: () => [
    ...asked('my-agent-uuid'),
    ...asked('contrarian'),
    {
      name: 'what one agent alone holds',
      operation: 'beliefs.similar',
      viewer: 'contrarian',
      input: { belief_id: 'my-climate-rain' },
      expect: refused('INVALID_QUERY', 'belief_id'),
    },
  ],
})

async function prepare(engine: Engine): Promise<void> {
  modelFolder() // builds the model where it is not there yet
  await loadBeliefsSample(engine, LOCAL_OWNER)
  // Makes the secret of the pseudonyms, which are then the same everywhere.
  await callHere(engine, 'federations.create', { id: 'tide' })
  await callHere(engine, 'beliefs.count', VACCINES)
}
