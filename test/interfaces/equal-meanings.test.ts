/** A question without a word of its answer, through every interface, with the real model: the same answer, found by meaning. */
import { expect } from 'vitest'
import { modelFolder } from '../support/model.ts'
import { sameEverywhere } from './equal-everywhere.ts'
import type { Step } from './scenario.ts'

const entries = [
  { id: 'sea', title: 'Harbour', content: 'Boats lie at anchor while the tide goes out.' },
  { id: 'dog', title: 'Walk', content: 'The puppy ran after the ball in the park.' },
  { id: 'tax', title: 'Office', content: 'The deadline for the income tax return is in May.' },
]

const steps: readonly Step[] = [
  {
    name: 'write and wait for vectors',
    operation: 'put',
    input: { entries, wait: true },
    expect: ({ result }) => expect(result.created).toBe(3),
  },
  {
    name: 'a question without a word of its answer',
    operation: 'query',
    input: { text: 'little dogs chasing toys', explain: true },
    expect: ({ result }) => {
      expect(result).toMatchObject({ mode: 'hybrid', notes: [] })
      expect(result.verdict).not.toBe('nothing_relevant')
      expect(result.items[0].id).toBe('dog')
    },
  },
  {
    name: 'the most similar entry',
    operation: 'similar',
    input: { id: 'sea', limit: 2 },
    expect: ({ result }) => expect(result.items.map((item: { id: string }) => item.id)).not.toContain('sea'),
  },
  {
    name: 'status',
    operation: 'status',
    input: {},
    expect: ({ result }) => expect(result).toMatchObject({ chunks: 3, embedded: 3, embedder: { dimensions: 384 } }),
  },
]

sameEverywhere({
  embedder: 'local',
  steps: () => {
    modelFolder() // builds the model where it is not there yet
    return steps
  },
})
