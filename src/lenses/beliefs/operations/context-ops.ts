/** Beliefs for the context of a language model, under a limit of tokens. */
import { contextQuery } from '../questions/context-query.ts'
import { expandBelief } from '../questions/expand.ts'
import { contextAnswer, expandAnswer } from '../schema/answers.ts'
import type { Query } from '../schema/query.ts'
import {
  contextQueryInput,
  EXPANSION_DEPTH,
  EXPANSIONS,
  expandInput,
  toContextQuery,
  toExpand,
} from '../schema/questions.ts'
import { operation } from './call.ts'
import { BODY_LIMIT, costOf } from './cost.ts'

const forContext = operation({
  name: 'beliefs.context_query',
  summary: 'Pick beliefs for a purpose that fit into so many tokens, the most useful and least alike first',
  input: contextQueryInput,
  output: contextAnswer,
  effect: { kind: 'read', idempotent: true },
  cost: input => costOf((input as Query).options),
  bodyLimit: BODY_LIMIT,
  run: (call, input) => contextQuery(call.state, toContextQuery(input, call.agent), call),
})

const expand = operation({
  name: 'beliefs.expand',
  summary: 'Show more about a belief within so many tokens: what it rests on, what opposes it, what is like it',
  input: expandInput,
  output: expandAnswer,
  effect: { kind: 'read', idempotent: true },
  cost: ({ scope, include = EXPANSIONS }) =>
    costOf({ scope, include_derivation: include.includes('derivation'), max_derivation_depth: EXPANSION_DEPTH }),
  bodyLimit: BODY_LIMIT,
  run: (call, input) => expandBelief(call.state, toExpand(input, call.agent), call),
})

export const CONTEXT_OPERATIONS = [forContext, expand] as const
